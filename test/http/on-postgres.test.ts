// TABLE of files of tests that run once more on PostgreSQL: what a caller meets must not depend on the store.
process.env['TEST_STORE'] = 'postgres'

for (const file of ['converts', 'documents', 'idempotency-key', 'keys', 'manages-tokens', 'quota', 'shares-jobs', 'survives-kill']) await import(`./${file}.test.ts`)
