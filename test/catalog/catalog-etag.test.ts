import assert from 'node:assert/strict';
import test from 'node:test';
import { prepareCatalog } from '../../server/catalog/build.ts';
import { oddCatalog, readWhole, tokens, WALLETS } from './catalog-odd.ts';

/** Changes of a catalog by name; `served` says whether an answer changes. */
type OddCatalog = ReturnType<typeof oddCatalog>;
type Change = (json: OddCatalog) => unknown;
const event = (json: OddCatalog): Record<string, unknown> => json.events[0]!;
const market = (json: OddCatalog): Record<string, unknown> => json.events[0]!.markets[0]!;

const SERVED: Readonly<Record<string, Change>> = {
  'a question': (json) => (market(json).question = 'Will it not?'),
  'a flag': (json) => (market(json).archived = true),
  'a date': (json) => (market(json).endDate = '2025-01-01T00:00:00Z'),
  'a tick size': (json) => (market(json).orderPriceMinTickSize = 0.01),
  'a switch': (json) => (market(json).acceptingOrders = false),
  'a token': (json) => (market(json).clobTokenIds = JSON.stringify(tokens(1001))),
  'a creator': (json) => (market(json).creator = WALLETS[0]),
  'the creator of an event': (json) => (event(json).creator = WALLETS[0]),
  'raw metadata': (json) => (market(json).raw_metadata = { a: 1 }),
  'event metadata': (json) => (event(json).eventMetadata = { a: 1 }),
  'an event title': (json) => (event(json).title = 'Ten'),
  'tags of an event': (json) => (event(json).tags = [{ id: '3' }]),
  'series of an event': (json) => (event(json).series = []),
  'a tag': (json) => (json.tags[2]!.label = 'lonelier'),
  'a series': (json) => (json.series[1]!.slug = 'somebody'),
  'the creators of a site': (json) => json.sites[0]!.creators.pop(),
  'the event of a market': (json) =>
    json.events[3]!.markets.push(json.events[2]!.markets.pop() as never),
  'one event less': (json) => json.events.pop(),
};

const NOT_SERVED: Readonly<Record<string, Change>> = {
  nothing: () => undefined,
  'a statistic of the source': (json) => (market(json).volume = '13'),
  'the order in the file': (json) => json.events.reverse(),
  'a stale copy of a tag': (json) => (event(json).tags = [{ id: '20', label: 'b' }, { id: '3' }]),
  'a site without markets': (json) => json.sites.pop(),
};

function etagAfter(change: Change): string {
  const json = oddCatalog();
  change(json);
  return prepareCatalog(readWhole(json)).etag;
}

test('catalogs with equal answers have one etag', () => {
  const { etag } = prepareCatalog(readWhole(oddCatalog()));
  for (const [name, change] of Object.entries(NOT_SERVED)) {
    assert.equal(etagAfter(change), etag, name);
  }
});

test('every change of an answer changes the etag', () => {
  const etags = new Map([[prepareCatalog(readWhole(oddCatalog())).etag, 'the catalog itself']]);
  for (const [name, change] of Object.entries(SERVED)) {
    const etag = etagAfter(change);
    assert.equal(etags.get(etag), undefined, name);
    etags.set(etag, name);
  }
});
