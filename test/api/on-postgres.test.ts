// TABLE of files of tests that run once more on PostgreSQL: what a caller meets must not depend on
// the store.
process.env['TEST_STORE'] = 'postgres'

for (const file of ['keys', 'child-keys', 'sockets', 'tokens']) await import(`./${file}.test.ts`)
