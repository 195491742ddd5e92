/**
 * Locks the tables of PostgreSQL's ledger until the migrations are done, for one that changes them.
 * It gives up after a moment and tries again: reports and settlements lock these tables in
 * different orders, so waiting for one table with a lock on another would be a deadlock, and no
 * request may wait for a long report.
 */
export const LOCK_LEDGER = `do $$
  declare
    usual constant text := current_setting('lock_timeout');
  begin
    loop
      begin
        perform set_config('lock_timeout', '300ms', true);
        lock table requests, usage_hours, usage_days, usage_account_hours, usage_account_days, usage_keys in access exclusive mode;
        exit;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(0.05);
      end;
    end loop;
    perform set_config('lock_timeout', usual, true);
  end $$`
