import assert from 'node:assert/strict';
import test from 'node:test';
import { BOOK_I, Book, State, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { BookRenderer } from '../../server/market-data/books.ts';
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
  private readonly reads = new TokenReads({
    books: new BookRenderer(this.fixture.t, this.fixture.texts),
    tops: new TopReader(this.fixture.t),
    whenBatchesDone: () => assert.fail('no writer is at work'),
    commits: undefined,
  });
  private readonly answer = this.reads.ofPolled((wanted) =>
    renderLastPrices(this.fixture.t, this.fixture.texts.known, wanted),
  );

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
    let sent = '';
    const bytes = new Uint8Array(Buffer.from(body));
    const context = {
      bodyView: new DataView(bytes.buffer),
      replyTransient: (_: number, answer: Uint8Array) => {
        sent = Buffer.from(answer).toString();
      },
    };
    void this.answer(context as unknown as RequestContext, undefined, undefined as never);
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
    assert.equal(desk.sent(body), before);
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

test('bodies that differ in any byte are told apart', () => {
  const polled = new PolledBodies();
  const bytes = new Uint8Array(400).fill(0x31);
  const view = new DataView(bytes.buffer);
  const tokens = Int32Array.of(7);
  assert.equal(polled.find(view), NOT_POLLED);
  polled.add(view, { count: 1, tokens, sides: new Uint8Array(1) });
  const cell = polled.find(view);
  assert(cell !== NOT_POLLED && polled.countOf(cell) === 1 && polled.tokenAt(cell, 0) === 7);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = 0x32;
    assert.equal(polled.find(view), NOT_POLLED, `byte ${at}`);
    bytes[at] = 0x31;
  }
  assert.equal(polled.find(new DataView(bytes.buffer, 0, 399)), NOT_POLLED);
});
