import assert from 'node:assert/strict';
import test from 'node:test';
import { State } from '../../engine/tables/layout.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { type MarketLookup, TokenTexts } from '../../server/market-data/texts.ts';
import { TradesIndex } from '../../server/market-data/trades-index.ts';
import { TradesPages } from '../../server/market-data/trades-pages.ts';
import { TradesRenderer } from '../../server/market-data/trades-render.ts';
import { TRADES_ROUTES } from '../../server/market-data/trades-routes.ts';
import { TRADES_QUERY } from '../../server/market-data/trades-schemas.ts';
import { Fixture, SMALL, withSeedAsync } from './read-fixture.ts';

const ALL = { entries: [], allows: () => true };

class Desk {
  readonly fixture = new Fixture({ ...SMALL, trades: 200 });
  readonly index = new TradesIndex(this.fixture.t);
  /** Answers of the route that came from its pages. */
  cached = 0;
  private title = 0;
  private pinned: MarketLookup = this.catalog();
  private readonly texts = new TokenTexts(
    this.fixture.t,
    (market) => this.pinned(market),
    'outcome',
    () => this.pinned,
  );
  private readonly pages = new TradesPages(this.index, this.texts);
  private readonly renderer = new TradesRenderer(this.index, this.texts);
  private readonly route = TRADES_ROUTES[0]!.handler({
    trades: this.renderer,
    pages: this.pages,
    allowlist: ALL,
    isTolerant: true,
  });

  replaceCatalog(): void {
    this.title += 1;
    this.pinned = this.catalog();
  }

  flush(): void {
    this.index.append(this.index.end, this.fixture.t.state[State.fills]!);
  }

  /** Answer of the route, with the fields of the query that a header names. */
  async answer(query: string): Promise<string> {
    let sent = '';
    const send = (_: number, body: string | Uint8Array, headers: readonly unknown[] = []): void => {
      sent = `${Buffer.from(body as Uint8Array).toString()}${JSON.stringify(headers)}`;
    };
    const reply = (...all: Parameters<typeof send>): void => {
      this.cached += 1;
      send(...all);
    };
    const context = { query, address: '', reply, replyTransient: send };
    await this.route.run(context as unknown as RequestContext);
    return sent;
  }

  async rendered(query: string): Promise<string> {
    const parsed = TRADES_QUERY.parse(query);
    assert(typeof parsed !== 'string');
    return `${(await this.renderer.render(parsed)).toString()}[]`;
  }

  private catalog(): MarketLookup {
    const question = `catalog ${this.title}`;
    return () => ({
      question,
      slug: '',
      icon: '',
      eventSlug: '',
      outcomes: ['Yes', 'No'],
    });
  }
}

test('a page that is requested again is the one of now, after fills and new catalogs too', async () => {
  await withSeedAsync(async (random) => {
    const desk = new Desk();
    const tokens = [desk.fixture.market(2, 10), desk.fixture.market(2, 10)];
    const queries = ['', 'limit=5', 'limit=5&offset=3', 'takerOnly=false&limit=40', 'side=BUY'];
    for (let step = 0; step < 400; step++) {
      const kind = random.below(20);
      if (kind === 0) desk.replaceCatalog();
      if (kind === 1) {
        desk.fixture.trade(random, tokens, 20, 5);
        desk.flush();
      }
      const query = random.pick(queries);
      const before = desk.cached;
      assert.equal(await desk.answer(query), await desk.rendered(query), query);
      assert(desk.cached - before <= 1);
    }
    assert(desk.cached > 50, `${desk.cached} pages were cached`);
  });
});

test('a page is cached at its second request, and not while a header names fields of its query', async () => {
  const desk = new Desk();
  const cachedAfter = async (query: string, times: number): Promise<number> => {
    const before = desk.cached;
    for (let i = 0; i < times; i++) await desk.answer(query);
    return desk.cached - before;
  };
  assert.equal(await cachedAfter('limit=7', 2), 0);
  assert.equal(await cachedAfter('limit=7', 3), 3);
  assert.equal(await cachedAfter('limit=7&unknown=1', 5), 0);
  assert.match(await desk.answer('limit=7&unknown=1'), /unknown/);
});
