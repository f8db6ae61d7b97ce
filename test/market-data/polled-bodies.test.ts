import assert from 'node:assert/strict';
import test from 'node:test';
import { Depth, readDepth } from '../../engine/tables/depth.ts';
import { BOOK_I, Book, State, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { Handler, RequestContext } from '../../server/http/http.ts';
import { BookRenderer, renderBooks } from '../../server/market-data/books.ts';
import { renderLastPrices } from '../../server/market-data/last-prices.ts';
import { NOT_POLLED, PolledBodies } from '../../server/market-data/polled-bodies.ts';
import { TokenReads } from '../../server/market-data/token-reads.ts';
import { TokenRequest } from '../../server/market-data/token-request.ts';
import { TopReader } from '../../server/market-data/top.ts';
import { withSeed } from '../common/random.ts';
import { Fixture } from './read-fixture.ts';

class Desk {
  readonly fixture = new Fixture();
  readonly tokens: TokenRow[] = [];
  private readonly books = new BookRenderer(this.fixture.t, this.fixture.texts);
  private readonly reads = new TokenReads({
    books: this.books,
    tops: new TopReader(this.fixture.t),
    whenBatchesDone: () => assert.fail('no writer is at work'),
    commits: undefined,
  });
  /** Renderings of lists of books. */
  rendered = 0;
  private readonly prices = this.reads.ofWanted((wanted) =>
    renderLastPrices(this.fixture.t, this.fixture.texts.known, wanted),
  );
  private readonly lists = this.reads.ofWanted((wanted) => {
    this.rendered += 1;
    return renderBooks(this.books, wanted);
  });

  constructor() {
    for (let market = 0; market < 8; market++) {
      const yes = this.fixture.market(2, 10);
      this.tokens.push(yes, (yes + 1) as TokenRow);
    }
  }

  /** Body with these tokens; spaces make it another one of the same meaning. */
  body(tokens: readonly TokenRow[], space = ''): string {
    const items = tokens.map((token) => `{"token_id":"${this.fixture.texts.tokenId(token)}"}`);
    return `[${items.join(`${space},`)}]`;
  }

  sent(body: string): string {
    return this.answerOf(this.prices, body);
  }

  sentBooks(body: string): string {
    return this.answerOf(this.lists, body);
  }

  private answerOf(answer: Handler<unknown>, body: string): string {
    let sent = '';
    const bytes = new Uint8Array(Buffer.from(body));
    const context = {
      bodyBytes: bytes,
      replyTransient: (_: number, answer: Uint8Array) => {
        sent = Buffer.from(answer).toString();
      },
    };
    void answer(context as unknown as RequestContext, undefined, undefined as never);
    return sent;
  }

  expected(tokens: readonly TokenRow[]): string {
    const { t, texts } = this.fixture;
    const wanted = new TokenRequest(texts.known);
    wanted.take(
      tokens.map((token) => texts.tokenId(token)),
      [],
    );
    return Buffer.from(renderLastPrices(t, texts.known, wanted)!).toString();
  }

  /** Books of a renderer that has none in its cache. */
  expectedBooks(tokens: readonly TokenRow[]): string {
    const { t, texts } = this.fixture;
    const fresh = new BookRenderer(t, texts);
    return `[${tokens.map((token) => copyOf(fresh, token)).join(',')}]`;
  }
}

function copyOf(renderer: BookRenderer, token: TokenRow): string {
  const depth = new Depth();
  assert(readDepth(renderer.tables, token, depth), 'no writer is at work');
  return renderer.copy(token, '', depth).toString();
}

test('a body that is polled gets the last prices of now', () => {
  withSeed((random) => {
    const desk = new Desk();
    const lists = Array.from({ length: 6 }, () => {
      const from = random.below(desk.tokens.length);
      const turned = [...desk.tokens.slice(from), ...desk.tokens.slice(0, from)];
      const tokens = turned.slice(0, random.between(6, 16));
      return { tokens, body: desk.body(tokens, random.pick(['', ' '])) };
    });
    for (let step = 0; step < 600; step++) {
      if (random.chance(10)) desk.fixture.trade(random, desk.tokens, 3, 5);
      const { body, tokens } = random.pick(lists);
      assert.equal(desk.sent(body), desk.expected(tokens));
    }
    assert(desk.expected(desk.tokens).includes('"price"'), 'tokens have traded');
  });
});

test('an answer that was made while a writer changed a book is not sent again', () => {
  withSeed((random) => {
    const desk = new Desk();
    const { bookI, tokenI } = desk.fixture.t;
    desk.fixture.trade(random, desk.tokens, 60, 5);
    const body = desk.body(desk.tokens);
    const before = desk.sent(body);
    for (let times = 0; times < 2; times++) assert.equal(desk.sent(body), before);
    const token = desk.tokens.find((each) => tokenI[(each << TOKEN_I) | Token.lastPrice] !== 0)!;
    const version = (tokenI[(token << TOKEN_I) | Token.book]! << BOOK_I) | Book.version;
    desk.fixture.t.state[State.batch]! += 1;
    Atomics.add(bookI, version, 1);
    tokenI[(token << TOKEN_I) | Token.lastPrice] = 1_234;
    assert.equal(desk.sent(body), before, 'the newest complete state');
    Atomics.add(bookI, version, 1);
    assert.notEqual(desk.sent(body), before);
    assert.equal(desk.sent(body), desk.expected(desk.tokens));
  });
});

test('a body that is polled gets the books of now, beside its last prices', () => {
  withSeed((random) => {
    const desk = new Desk();
    const lists = Array.from({ length: 6 }, () => {
      const from = random.below(desk.tokens.length);
      const turned = [...desk.tokens.slice(from), ...desk.tokens.slice(0, from)];
      const tokens = turned.slice(0, random.between(1, 16));
      return { tokens, body: desk.body(tokens, random.pick(['', ' '])) };
    });
    for (let step = 0; step < 600; step++) {
      if (random.chance(10)) desk.fixture.trade(random, desk.tokens, 3, 5);
      const { body, tokens } = random.pick(lists);
      assert.equal(desk.sentBooks(body), desk.expectedBooks(tokens));
      if (random.chance(50)) assert.equal(desk.sent(body), desk.expected(tokens));
    }
  });
});

test('a batch on other books leaves the answer to a polled body as it is', () => {
  withSeed((random) => {
    const desk = new Desk();
    const [some, others] = [desk.tokens.slice(0, 8), desk.tokens.slice(8)];
    desk.fixture.trade(random, desk.tokens, 60, 5);
    const body = desk.body(some);
    const before = desk.sentBooks(body);
    // The second one names the versions of the books, the third one is stored.
    for (let times = 0; times < 2; times++) assert.equal(desk.sentBooks(body), before);
    const { rendered } = desk;
    desk.fixture.trade(random, others, 20, 5);
    assert.equal(desk.sentBooks(body), before);
    assert.equal(desk.rendered, rendered, 'it was not made again');
    for (let tries = 0; desk.expectedBooks(some) === before && tries < 100; tries++) {
      desk.fixture.trade(random, some, 20, 5);
    }
    assert.notEqual(desk.sentBooks(body), before);
    assert.equal(desk.rendered, rendered + 1);
  });
});

test('books are sent again while a writer changes one, and not once it is done', () => {
  withSeed((random) => {
    const desk = new Desk();
    const { bookI, tokenI, state } = desk.fixture.t;
    desk.fixture.trade(random, desk.tokens, 60, 5);
    const body = desk.body(desk.tokens);
    const before = desk.sentBooks(body);
    for (let times = 0; times < 2; times++) assert.equal(desk.sentBooks(body), before);
    const token = desk.tokens[3]!;
    const version = (tokenI[(token << TOKEN_I) | Token.book]! << BOOK_I) | Book.version;
    state[State.batch]! += 1;
    Atomics.add(bookI, version, 1);
    tokenI[(token << TOKEN_I) | Token.lastPrice] = 1_234;
    assert.equal(desk.sentBooks(body), before, 'the newest complete state');
    Atomics.add(bookI, version, 1);
    assert.equal(desk.sentBooks(body), desk.expectedBooks(desk.tokens));
    assert.notEqual(desk.sentBooks(body), before);
  });
});

test('more bodies than cells keep their own tokens, and one that comes twice in a row is stored', () => {
  withSeed((random) => {
    const polled = new PolledBodies();
    const bodies = Array.from({ length: 3_000 }, (_, i) => {
      const text = `${i} ${random.below(2 ** 31)} `;
      return new Uint8Array(Buffer.from(text.repeat(20)));
    });
    for (let round = 0; round < 3; round++) {
      for (const [i, body] of bodies.entries()) {
        const cell = polled.find(body);
        if (cell !== NOT_POLLED) assert.equal(polled.tokenAt(cell, 0), i);
        else polled.add(body, { count: 1, tokens: Int32Array.of(i), sides: new Uint8Array(1) });
      }
    }
    const body = bodies[random.below(bodies.length)]!;
    for (let times = 0; times < 2; times++) {
      if (polled.find(body) === NOT_POLLED)
        polled.add(body, { count: 1, tokens: Int32Array.of(7), sides: new Uint8Array(1) });
    }
    assert.notEqual(polled.find(body), NOT_POLLED);
  });
});

test('bodies that differ in any byte are told apart', () => {
  const polled = new PolledBodies();
  const bytes = new Uint8Array(400).fill(0x31);
  const tokens = Int32Array.of(7);
  assert.equal(polled.find(bytes), NOT_POLLED);
  polled.add(bytes, { count: 1, tokens, sides: new Uint8Array(1) });
  const cell = polled.find(bytes);
  assert(cell !== NOT_POLLED && polled.countOf(cell) === 1 && polled.tokenAt(cell, 0) === 7);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = 0x32;
    assert.equal(polled.find(bytes), NOT_POLLED, `byte ${at}`);
    bytes[at] = 0x31;
  }
  assert.equal(polled.find(bytes.subarray(0, 399)), NOT_POLLED);
});
