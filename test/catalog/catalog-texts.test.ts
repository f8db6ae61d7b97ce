import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { catalogFile, temporaryDirectory } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { serveCatalog } from './catalog-server.ts';

const ESCAPE = '\x1b[2J';

function hostile() {
  const { events, ...lists } = catalogFile([{ id: 1 }, { id: 2, outcomes: ['Yes', 'No'] }]) as {
    readonly events: readonly Record<string, unknown>[];
  };
  const [event, ...others] = events;
  const [market] = event!.markets as Record<string, unknown>[];
  const markets = [
    {
      ...market,
      question: `Will ${ESCAPE} it\nrain?`,
      slug: 'rain\0',
      outcomes: JSON.stringify([`=1+1${ESCAPE}`, '\u202eoN']),
      description: `two\nlines${ESCAPE}`,
    },
  ];
  const tags = [{ id: '5', label: `tag\r${ESCAPE}`, slug: 'tag' }];
  return { ...lists, tags, events: [{ ...event, title: '\u200b', tags, markets }, ...others] };
}

test('names are cleaned in either form of outcomes, and the report names each object once', () => {
  const file = hostile();
  const read = readCatalog(file);
  assert(read.ok);
  const [market, other] = read.catalog.markets;
  assert.equal(market!.question, 'Will [2J it rain?');
  assert.deepEqual(market!.outcomes, ['=1+1[2J', 'oN']);
  assert.equal(market!.slug, 'rain');
  assert.deepEqual(other!.outcomes, ['Yes', 'No']);
  assert.equal(read.catalog.events[0]!.title, '\ufffd');
  assert.deepEqual(
    read.report.skipped.map(({ reason, first }) => [reason, first]),
    [
      ['markets with unprintable or overlong texts: cleaned', ['1']],
      ['tags with unprintable or overlong texts: cleaned', ['5', '5']],
      ['events with unprintable or overlong texts: cleaned', [read.catalog.events[0]!.id]],
    ],
  );
  const listed = {
    ...file,
    events: [
      {
        ...file.events[0],
        markets: [{ ...market, id: 1, outcomes: [ESCAPE, 'b'], clobTokenIds: market!.tokenIds }],
      },
    ],
  };
  const asList = readCatalog(listed);
  assert(asList.ok);
  assert.deepEqual(asList.catalog.markets[0]!.outcomes, ['[2J', 'b']);
});

test('an object with printable texts is stored unchanged', () => {
  const file = catalogFile([{ id: 1 }]) as { readonly events: readonly Record<string, unknown>[] };
  const read = readCatalog(file);
  assert(read.ok);
  const [event] = read.catalog.events;
  assert.equal((event!.markets as unknown[])[0], (file.events[0]!.markets as unknown[])[0]);
});

test('an import reports cleaned texts; routes, commands and CSV contain no terminal control characters', async (t) => {
  const dataDir = temporaryDirectory();
  const path = join(dataDir, 'catalog.json');
  writeFileSync(path, JSON.stringify(hostile()));
  const { code, stdout } = await cli(dataDir, ['catalog', 'import', path]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^ {2}1 markets with unprintable or overlong texts: cleaned \(1\)$/m);
  const exported = await cli(dataDir, ['catalog', 'export', '-']);
  assert.equal(exported.code, 0);
  assert.doesNotMatch(exported.stdout, /\\u00(?:1b|0[0-8])/);
  const server = await serveCatalog(JSON.parse(exported.stdout), t);
  const served = (await server.json('/markets/1')) as Record<'outcomes' | 'question', string>;
  assert.equal(served.question, 'Will [2J it rain?');
  assert.deepEqual(JSON.parse(served.outcomes), ['=1+1[2J', 'oN']);
});
