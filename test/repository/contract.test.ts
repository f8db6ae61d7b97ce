/** Tables of the reference pages are equal to those of the code. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import {
  RejectReason,
  type RejectReasonCode,
  refusesOrder,
} from '../../engine/orders/reject-reasons.ts';
import { OPERATIONS } from '../../server/admin/operation-table.ts';
import { PARAMETERS, type Parameter } from '../../server/catalog/parameters.ts';
import { refusalCode } from '../../server/common/error-bodies.ts';
import {
  REFUSALS,
  REJECTS,
  type RefusalCode,
  refusalOf,
  textsOf,
} from '../../server/common/refusals.ts';
import type { Setting } from '../../server/config/kinds.ts';
import { PROFILE_ROWS, PROFILE_TABLE } from '../../server/config/profile.ts';
import { isSetting, type Rows, SETTINGS } from '../../server/config/settings.ts';
import { SAME } from '../../server/http/route.ts';
import { PAUSE_REASONS, PAUSES } from '../../server/orders/intake/pauses.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { anchorOf } from '../common/anchors.ts';
import { ROOT } from '../common/root.ts';

const API = 'docs/reference/api.md';
const CONFIGURATION = 'docs/reference/configuration.md';
const PROTOCOL = 'docs/protocol.md';

function rowsOf(page: string, heading: string): string[][] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const lines = text.slice(text.indexOf(heading)).split('\n');
  const rows = lines.slice(
    2,
    lines.findIndex((line, i) => i > 1 && !line.startsWith('|')),
  );
  return rows.map((row) => row.replace(/^\| /, '').replace(/ \|$/, '').split(' | '));
}

test('docs/protocol.md lists the code of every refusal of an order', () => {
  const codes = Object.entries(REJECTS)
    .filter(([reason]) => refusesOrder(Number(reason) as RejectReasonCode))
    .map(([, { code }]) => `\`${code}\``);
  const text = readFileSync(join(ROOT, PROTOCOL), 'utf8');
  const [, group = ''] = text.split('### Order of checks\n');
  const [rule = ''] = group.split('\n2. ');
  const listed = rule.match(/`[A-Z_]+`/g)?.filter((name) => name.slice(1, -1) in REFUSALS);
  assert.deepEqual([...new Set(listed)].toSorted(), [...new Set(codes)].toSorted());
});

const CODES = Object.keys(REFUSALS) as RefusalCode[];

test('every reject reason of the engine has one code', () => {
  const numbers = CODES.flatMap((code) => refusalOf(code).reasons ?? []);
  const expected = Object.values(RejectReason).filter((reason) => reason !== 0);
  assert.deepEqual(numbers.toSorted(), expected.toSorted());
});

test('the reference of the API lists every refusal by its code', () => {
  const texts = (of: readonly string[]) =>
    of.map((text) => `\`${text.endsWith(' ') ? `${text}..` : text}\``).join(', ');
  assert.deepEqual(
    rowsOf(API, '| code |'),
    CODES.map((code) => [`\`${code}\``, texts(textsOf(code))]),
  );
});

test('every error text of the server has a code, and is documented beside it', () => {
  const pattern =
    /errorBody\(\s*'([A-Z_]+)',[^;]*?\btext: ['`]((?:[^'`\\]|\\.)+)|"error":"([^"]+)"|\berror: '([^']+)'/g;
  const names = readdirSync(join(ROOT, 'server'), { recursive: true, encoding: 'utf8' });
  let found = 0;
  for (const name of names.filter((path) => /^(?!cli|page|config|catalog).*\.ts$/.test(path))) {
    for (const match of readFileSync(join(ROOT, 'server', name), 'utf8').matchAll(pattern)) {
      const [, code, ...texts] = match;
      const text = texts.find((part) => part !== undefined)!;
      found += 1;
      const known = refusalCode(text);
      assert(known !== undefined && (code ?? known) === known, `server/${name}: ${text}`);
    }
  }
  assert(found > 20, 'the search found the texts');
});

test('the reference of the API lists every route of the table, with its description', () => {
  const expected: string[][] = [];
  for (const [route, { does }] of Object.entries(ROUTE_TABLE)) {
    const last = expected.at(-1);
    if (last !== undefined && (does === SAME || does === last[1])) last[0] += `, \`${route}\``;
    else expected.push([`\`${route}\``, does]);
  }
  const lines = expected.map((row) => `| ${row.join(' | ')} |`).join('\n');
  const listed = rowsOf(API, '| route |').map(([route = '', ...does]) => [route, does.join(' | ')]);
  assert.deepEqual(listed, expected, `it should hold\n${lines}`);
});

/** A parameter by its names in the page: some have a spelling for each way of writing columns. */
function namesOf({ aim, names }: Parameter): string {
  if (aim.by === 'range') return '';
  const own = aim.by === 'flag' ? [names[0]] : names.filter((name) => !name.endsWith('[]'));
  return own.map((name) => `\`${name}\``).join(' or ');
}

/** Rows of the table of parameters: those of equal meaning stand together. */
function parameterRows(): string[][] {
  const rows = new Map<string, { names: Set<string>; lists: Set<string> }>();
  const columns = new Set<string>();
  for (const [list, parameters] of Object.entries(PARAMETERS)) {
    for (const parameter of parameters.rows) {
      const key = parameter.does;
      const row = rows.get(key) ?? { names: new Set(), lists: new Set() };
      rows.set(key, row);
      row.names.add(namesOf(parameter));
      if (parameter.aim.by === 'range') columns.add(parameter.names[0]!.replace(/_m..$/, ''));
      row.lists.add(list);
    }
  }
  return [...rows].map(([does, { lists, names }]) => {
    const bounds = [...columns].map((column) => `\`${column}\``).join(' ');
    const shown = names.has('') ? `\`_min\` and \`_max\` behind ${bounds}` : [...names].join(', ');
    const of = [...lists].map((list) => LISTS[list as keyof typeof LISTS]);
    const isCursor = !lists.has('markets') && !lists.has('events');
    const named = [...new Set(of.filter((name) => isCursor || name !== 'keyset'))];
    return [shown, lists.size === Object.keys(LISTS).length - 1 ? 'all' : named.join(', '), does];
  });
}

const LISTS = {
  markets: 'markets',
  events: 'events',
  marketsKeyset: 'keyset',
  eventsKeyset: 'keyset',
  paged: 'series, tags',
  market: 'one market',
  single: 'one object',
  search: 'search',
  sampling: 'sampling lists',
} as const satisfies Record<keyof typeof PARAMETERS, string>;

test('the reference of the API lists every parameter of the catalog, its routes and its meaning', () => {
  const listed = rowsOf(API, '| parameter | of |');
  const expected = parameterRows();
  const lines = expected.map((row) => `| ${row.join(' | ')} |`).join('\n');
  assert.deepEqual(listed, expected, `it should hold\n${lines}`);
});

/** Settings in a part of the table, without those of profiles, which have a table of their own. */
function settingsIn(rows: Rows): Setting<unknown>[] {
  return Object.entries(rows)
    .filter(([member]) => !(member in PROFILE_TABLE))
    .flatMap(([, row]) => (isSetting(row) ? [row] : settingsIn(row)));
}

/** Default of a setting as it is printed at start, without the brackets around words. */
function defaultOf({ kind, unset }: Setting<unknown>): string {
  const [one, other] = [1, 9].map((cores) => unset({ cores, profile: 'spec' }));
  if (one !== other) return 'see right';
  const parsed = kind.parse(one!);
  assert(parsed.ok, one);
  return kind.print(parsed.value).replaceAll(/[()]/g, '') || 'none';
}

/** The rule of a setting as a cell: a range is one of whole numbers, words are alternatives. */
function cellOf(rule: string): string {
  return rule.replace(/^(?:a whole number from|one of) /, '');
}

test('the reference of the configuration lists every setting: its variable, default, rule and meaning', () => {
  const expected = settingsIn(SETTINGS).map((setting) => {
    const { kind, meaning, variable } = setting;
    return [`\`${variable}\``, defaultOf(setting), cellOf(kind.rule), meaning];
  });
  const lines = expected.map((row) => `| ${row.join(' | ')} |`).join('\n');
  assert.deepEqual(rowsOf(CONFIGURATION, '| variable |'), expected, `it should hold\n${lines}`);
});

test('the reference of the configuration names the storage of every setting that outlasts a run', () => {
  const kept = new Map<string, string[]>();
  for (const { kept: retention, variable } of settingsIn(SETTINGS)) {
    if (retention === undefined) continue;
    const cells = [retention.by, retention.unset, retention.changed].join(' | ');
    kept.set(cells, [...(kept.get(cells) ?? []), `\`${variable}\``]);
  }
  assert(kept.size > 8);
  const expected = [...kept].map(([cells, variables]) => [variables.join(', '), cells]);
  const lines = expected.map((row) => `| ${row.join(' | ')} |`).join('\n');
  const rows = rowsOf(CONFIGURATION, '| kept setting |');
  const listed = rows.map(([variables = '', ...cells]) => [variables, cells.join(' | ')]);
  assert.deepEqual(listed, expected, `it should hold\n${lines}`);
});

test('SECURITY.md states every bound that a setting has, with its default', () => {
  const settings = new Map(settingsIn(SETTINGS).map((row) => [row.variable, defaultOf(row)]));
  const cells = rowsOf('SECURITY.md', '| resource |').map((row) => row[2]!);
  const stated = cells.flatMap((cell) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)(?:=([^`]*))?`/g)]);
  for (const [, variable, value] of stated) assert.equal(value, settings.get(variable!), variable);
  const bounds = [...settings.keys()].filter((variable) =>
    /_MAX$|_PER_|ENGINE_QUEUE$/.test(variable),
  );
  assert(bounds.length > 15, 'the settings are there');
  const listed = new Set(stated.map(([, variable]) => variable));
  assert.deepEqual(
    bounds.filter((variable) => !listed.has(variable)),
    [],
  );
});

test('SECURITY.md lists the visible data of a wallet: each route is open to the callers of its column', () => {
  const rows = rowsOf('SECURITY.md', '| what | everybody |');
  const routesIn = (column: number): string[] =>
    rows.flatMap((row) => [...row[column]!.matchAll(/`(GET [^`]+)`/g)].map(([, route]) => route!));
  const [, ofAll, ofOwner, ofOperator] = [0, 1, 2, 3].map(routesIn);
  const table: Readonly<
    Record<string, { readonly access: string; readonly does: string; readonly query?: unknown }>
  > = ROUTE_TABLE;
  for (const route of ofAll!) assert.equal(table[route]?.access, 'none', route);
  for (const route of ofOwner!) assert.match(table[route]!.access, /^level2/, route);
  for (const route of ofOperator!) assert(Object.hasOwn(OPERATIONS, route), route);
  const takesUser = Object.entries(table).flatMap(([route, { access, query }]) =>
    access === 'none' && JSON.stringify(query ?? '').includes('"user"') ? [route] : [],
  );
  assert(takesUser.length >= 5, 'the search found routes');
  for (const route of takesUser) assert(ofAll!.includes(route), `${route} tells of a wallet`);
  for (const [route, { access, does }] of Object.entries(table)) {
    if (access !== 'level2-read' || /empty|never|the same|"OK"/.test(does)) continue;
    assert(ofOwner!.includes(route), `${route} tells a wallet of itself`);
  }
});

test('the reference of the configuration lists what CLIENT_PROFILE changes, row by row', () => {
  const rows = PROFILE_ROWS.map(([, { meaning, polymarket, spec, variable }]) =>
    [`\`${variable}\``, spec, polymarket, meaning].join(' | '),
  );
  assert.deepEqual(
    rowsOf(CONFIGURATION, '| setting |').map((row) => row.join(' | ')),
    rows,
  );
});

test('rule codes are unique', () => {
  const codes = Object.values(RejectReason);
  assert.equal(new Set(codes).size, codes.length);
});

function pages(): string[] {
  const own = ['docs', 'engine', 'storage', 'server', 'client', 'bench', 'test'];
  const below = own.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  );
  return ['README.md', 'SECURITY.md', ...below];
}

function anchorsOf(page: string): string[] {
  const headings = readFileSync(join(ROOT, page), 'utf8').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) => anchorOf(heading!));
}

test('every link of a page leads to an existing file and heading', () => {
  assert(pages().length > 12, 'the search found the pages');
  for (const page of pages()) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    for (const [, path, anchor] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
      const target = path === '' ? page : join(dirname(page), path!);
      assert(existsSync(join(ROOT, target)), `${page} names ${path}`);
      const isThere = anchor === undefined || anchorsOf(target).includes(anchor);
      assert(isThere, `${page} names ${path}#${anchor}`);
    }
  }
});

test('docs/protocol.md lists every reason of readiness with the text of its row', () => {
  const yes = (is: boolean): string => (is ? 'yes' : 'no');
  const rows = PAUSE_REASONS.map((code) => {
    const { concerns, handsOver, means, takesCancels } = PAUSES[code];
    return [`\`${code}\``, means, concerns, yes(takesCancels), yes(handsOver)];
  });
  assert.deepEqual(rowsOf(PROTOCOL, '| code | meaning | kind |'), rows);
});
