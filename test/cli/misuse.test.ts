// What is wrong with a command line is said in one line, before anything is opened or made.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createProgram } from '../../server/cli/program.ts'
import { counted } from '../../server/common/counted.ts'
import { PAGE } from '../support/form.ts'
import { tollmark } from '../support/harness.ts'
import { usedFolder } from '../support/templates.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'
import { refusalOf } from './in-process.ts'

const token = (...args: string[]): string[] => ['tokens', 'create', '--name', 'test', ...args]
const key = (...args: string[]): string[] => ['keys', 'create', '--name', 'test', ...args]

/** TABLE of command lines that are wrong: exit code 2. */
const MISUSES: [args: string[], line: RegExp][] = [
  [['frobnicate'], /^Unknown command 'frobnicate'\.$/],
  [['tokns'], /^Unknown command 'tokns'\. Did you mean tokens\?$/],
  [['tokens', '--colour'], /^Unknown option '--colour'\.$/],
  [['tokens', 'drop'], /^Unknown command 'drop'\.$/],
  [['tokens', 'create'], /^Give the token a name: --name NAME\.$/],
  [['tokens', 'create', '--name', '  '], /^Give the token a name: --name NAME\.$/],
  [['tokens', 'revoke'], /^Missing required argument 'id'\. Write: tollmark tokens revoke <id>\.$/],
  [['accounts', 'create'], /^Give the account a name: --name NAME\.$/],
  [token('--expires', 'soon'), /^--expires: "soon" is not a date\. Write 2027-01-31, .* or 30d\.$/],
  [token('--expires', '2099-01-31T12:00:00'), /^--expires: "2099-01-31T12:00:00" is not a date\./],
  [token('--account', ' '), /^--account must not be empty\.$/],
  [token('--account', 'x'.repeat(201)), /^--account must not be longer than 200 characters\.$/],
  [key('--account', ''), /^--account must not be empty\.$/],
  [token('more'), /^Too many arguments for 'create'\. Expected 0 arguments but got 1: more\.$/],
  [
    ['keys', 'revoke', 'key_1', 'key_2'],
    /^Too many arguments for 'revoke'\. Expected 1 argument but got 2: .*$/,
  ],
  [key('--rpm', '-1'), /^--rpm must be a whole number from 1 to 1000000\.$/],
  [
    key('--objects', 'all'),
    /^Option '--objects <whose>' argument 'all' is invalid\. Allowed choices are own, upstream\.$/,
  ],
  [key('--read-only=yes'), /^.+$/],
  [token('--colour', 'red'), /^Unknown option '--colour'\.$/],
  [token('--acount', 'x'), /^Unknown option '--acount'\. Did you mean --account\?$/],
  [['keys', 'list', '--grace', '1'], /^Unknown option '--grace'\.$/],
  [['keys', 'change', 'key_1'], /^Give what to change: --name, --models, --rpm, …$/],
  [['keys', 'mint', 'key_1'], /^Give its lifetime: --ttl 10m\.$/],
  [['keys', 'rotate', 'key_1', '--grace', '31d'], /^--grace must be at most 30d\.$/],
  [
    ['keys', 'rotate', 'key_1', '--grace', 'x'],
    /^--grace must be seconds, or a length of time such as .*\.$/,
  ],
  [['keys', 'list', '--token', 'tmt_x'], /^--token is for a running server\. Give --url too\.$/],
  [
    key('--url', 'http://localhost:1', '--init'),
    /^--init creates a database here, and --url names a server\. Give one of them\.$/,
  ],
  [
    ['keys', 'list', '--url', 'http://localhost:1'],
    /^Give an API token for that server: --token tmt_…, or TOLLMARK_TOKEN\.$/,
  ],
  [['credentials', 'test', 'cred_1'], /^Only a running server can make the call: give --url\.$/],
  [['completion', 'cmd'], /^There is no completion for "cmd"\. Choose from bash, zsh, fish\.$/],
  [
    ['keys', 'list', '--url', 'localhost:8484'],
    /^--url: "localhost:8484" is not an address that begins with http:\/\/ or https:\/\/\. Write http:\/\/localhost:8484\.$/,
  ],
  [
    ['env', '--url', 'ftp://host'],
    /^--url: "ftp:\/\/host" is not an address that begins with http:\/\/ or https:\/\/\.$/,
  ],
  [['convert'], /^Missing required argument 'files'\. Write: tollmark convert <files\.\.\.>\.$/],
  [
    ['convert', 'Page.html', '--format', 'docx'],
    /^Option '--format <format>' argument 'docx' is invalid\. Allowed choices are markdown, json, chunks\.$/,
  ],
  [
    ['convert', 'Page.html', '--format', 'chunks', '--source-map', 'map.json'],
    /^--source-map maps Markdown\. Chunks name their blocks themselves\.$/,
  ],
  [['convert', 'Page.html', '--source-map'], /^--source-map needs a file, or --format json\.$/],
  [
    ['convert', 'A.html', 'B.html', '-o', 'out/', '--source-map', 'map.json'],
    /^--source-map takes one export at a time\.$/,
  ],
  [
    ['convert', 'Page.html', '--source-map', 'map.json', '--url', 'http://localhost:1'],
    /^With --url, --source-map needs --format json\.$/,
  ],
  [['convert', 'Page.html', '--flavor', 'obsidian'], /^--flavor needs --layout pages\.$/],
  [['convert', 'Page.html', '--layout', 'document', '--sync'], /^--sync needs --layout pages\.$/],
  [
    ['convert', 'Page.html', '--layout', 'pages', '--json'],
    /^Pages are Markdown files\. Leave --format and --json out\.$/,
  ],
  [
    ['convert', 'Page.html', '--layout', 'pages', '--keep', '-o', 'out'],
    /^--keep needs --sync: nothing is removed without it\.$/,
  ],
  [['convert', 'Page.html', '--layout', 'pages', '--sync'], /^--sync needs a folder: -o FOLDER\.$/],
  [
    ['convert', 'Page.html', '--layout', 'pages', '--source-map', 'map.json'],
    /^--source-map is for one document\. Leave --layout pages out\.$/,
  ],
  [
    ['convert', 'Page.html', '--json', '--format', 'markdown'],
    /^--json and --format markdown ask for two different documents\. Give one of them\.$/,
  ],
  [
    ['convert', 'Page.html', 'Page.html'],
    /^Several exports need a folder for their documents: -o FOLDER\/\.$/,
  ],
  [['convert', '-', '-', '-o', 'out/'], /^Standard input \(-\) can be given only once\.$/],
  [['convert', 'Page.html', '--pdf'], /^Unknown option '--pdf'\.$/],
]

/** TABLE of command lines that are understood, and cannot be done: exit code 1. */
const FAILURES: [args: string[], line: RegExp][] = [
  [token('--plan', 'gold'), /^There is no plan "gold"\. The plans are free;/],
  [token('--scopes', 'all'), /^--scopes: Must be one of "convert", "manage", "mint"\.$/],
  [token('--expires', '2001-01-01'), /^--expires: This date is in the past\. /],
  [token('--expires', '2099-02-30'), /^--expires: .*2027-01-31.*\.$/],
  [['tokens', 'create', '--name', 'x'.repeat(201)], /^--name: Must have at most 200 characters\.$/],
  [
    key('--providers', 'openai,opnai'),
    /^--providers: There is no provider "opnai"\. Choose from alibaba, .*, openai, .*\.$/,
  ],
  [key('--origins', 'app'), /^--origins: Must be an origin such as https:\/\/app\.example\.com\.$/],
  [['accounts', 'role', 'admin', 'boss'], /^ROLE: Must be one of "admin", "member"\.$/],
  [['tokens', 'revoke', 'tok_x'], /^No API token .* "tollmark tokens list" lists them\.$/],
  [['keys', 'show', '../accounts'], /^No key .*$/],
  [
    ['keys', 'list', '--url', 'http://127.0.0.1:49999', '--token', 'tmt_x'],
    /^The server at http:\/\/127\.0\.0\.1:49999 cannot be reached \(ECONNREFUSED\)\.$/,
  ],
  [
    ['keys', 'list', '--account', 'nobody'],
    /^There is no account "nobody"\. "tollmark accounts list" shows them\.$/,
  ],
]

test('an invalid command line gets one sentence', async (t) => {
  process.env['TOLLMARK_DATA'] = temporaryFolder(t)
  t.after(() => delete process.env['TOLLMARK_DATA'])
  for (const [kind, table] of [
    ['Misuse', MISUSES],
    ['failure', FAILURES],
  ] as const) {
    for (const [args, line] of table) {
      const refusal = await refusalOf(args)
      assert.match(refusal.detail, line, args.join(' '))
      assert.equal(refusal.exit, kind === 'Misuse' ? 2 : 1, args.join(' '))
    }
  }
})

type Parser = ReturnType<typeof createProgram>

test('the help of a command offers no further commands, that of a group does', () => {
  const helpOf = (...words: string[]): string => {
    const find = (parser: Parser, word: string): Parser =>
      parser.commands.find((one) => one.name() === word) ?? assert.fail(word)
    return words.reduce(find, createProgram()).helpInformation()
  }
  assert.match(helpOf('keys'), /\nCommands:\n/)
  assert.doesNotMatch(helpOf('keys', 'list'), /Commands:/)
  assert.doesNotMatch(helpOf('convert'), /Commands:/)
})

test('sentences group the digits of large numbers', () => {
  assert.deepEqual(
    [counted(1, 'byte'), counted(999, 'byte'), counted(1_234_567, 'byte')],
    ['1 byte', '999 bytes', '1,234,567 bytes'],
  )
})

test('misuse exits with 2 and failure with 1; with --json both print JSON on standard error', async (t) => {
  const env = { TOLLMARK_DATA: usedFolder(t) }
  const misuse = await tollmark(['keys', 'list', '--colour'], env)
  assert.deepEqual(misuse, { code: 2, out: '', err: "tollmark: Unknown option '--colour'.\n" })
  const failure = await tollmark(['keys', 'show', 'key_x', '--json'], env)
  assert.deepEqual([failure.code, failure.out], [1, ''])
  const { object, code, detail } = JSON.parse(failure.err) as Record<string, string>
  assert.deepEqual([object, code], ['error', 'key_not_found'])
  assert.match(detail ?? '', /^No key of this account has this id\./)
})

/** TABLE of files that cannot be converted, and why. */
const BAD_FILES: [args: string[], line: RegExp][] = [
  [['missing.html'], /^tollmark: missing\.html: there is no such file or folder\.\n$/],
  [['notes.txt'], /^tollmark: notes\.txt: The file is a text file\..*\n$/],
  [['Empty.zip'], /^tollmark: Empty\.zip: .+\n$/],
  [
    ['Page.html', '-o', 'no/such/folder/out.md'],
    /^tollmark: no\/such\/folder\/out\.md cannot be written: there is no such file or folder\.\n$/,
  ],
  [
    ['Page.html', '-o', 'notes.txt/out.md'],
    /^tollmark: notes\.txt\/out\.md cannot be written: a part of this path is a file\.\n$/,
  ],
  // Node's recursive mkdir never returns here.
  [
    ['Page.html', '-o', '/proc/x/'],
    /^tollmark: \/proc\/x\/ cannot be written: there is no such file or folder\.\n$/,
  ],
]

test('a file that cannot be converted is refused with one line and exit 1', async (t) => {
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, 'Page.html'), PAGE)
  writeFileSync(join(cwd, 'notes.txt'), 'just some words')
  writeFileSync(join(cwd, 'Empty.zip'), zip({}))
  for (const [args, line] of BAD_FILES) {
    const { code, out, err } = await tollmark(['convert', ...args], {}, cwd)
    assert.deepEqual([code, out], [1, ''], args.join(' '))
    assert.match(err, line)
  }
  assert.deepEqual(readdirSync(cwd).sort(), ['Empty.zip', 'Page.html', 'notes.txt'])
})
