/**
 * The whole load tool against a small server of this test: a correct one, ones that drop answers
 * before or after executing, and ones that lie.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import test from 'node:test';
import { MICRO, microText, priceText } from '../../bench/load/load-amounts.ts';
import { BUY, type LastTrade, type Order, SELL, type Side } from '../../bench/load/load-book.ts';
import { type Answer, DUPLICATED, NOT_FILLED } from '../../bench/load/load-ledger.ts';
import { chooseMarkets, type LoadMarket, type LoadToken } from '../../bench/load/load-market.ts';
import { parseOptions } from '../../bench/load/load-options.ts';
import { LoadRun } from '../../bench/load/load-run.ts';
import { Random } from '../../bench/random.ts';
import { orderData, type UnsignedOrder } from '../../client/typed-data.ts';

const ADDRESS = `0x${'5'.repeat(40)}`;
const CONFIG = {
  chainId: 80002,
  credentialPrefix: 'SERVICE',
  domainName: 'CTF Exchange',
  domainVersion: '1',
  exchangeAddress: ADDRESS,
  negRiskExchangeAddress: ADDRESS,
};
const FAUCET = 1_000_000;
const DOMAIN = { name: 'CTF Exchange', version: '1', chainId: 80002, verifyingContract: ADDRESS };

function markets(): LoadMarket[] {
  const catalog = ([10, 100, 200, 400, 1000, 10_000] as const).map((ticksPerUnit, i) => ({
    conditionId: `0x${String(i + 1).repeat(64)}`,
    tokenIds: i === 1 ? ['21', '22', '23'] : [`${i + 1}1`, `${i + 1}2`],
    ticksPerUnit,
    minSizeMicro: 5 * MICRO,
    negRisk: i === 2,
    tradable: true,
  }));
  return chooseMarkets(catalog, 12, new Random('markets'));
}

interface Faults {
  readonly dropBefore?: (request: number) => boolean;
  readonly dropAfter?: (request: number) => boolean;
  readonly busy?: (request: number) => boolean;
  readonly forgetsDuplicates?: boolean;
  readonly forgetsLastTrades?: boolean;
  readonly forgetsMakerRows?: boolean;
  readonly overstates?: boolean;
  /** Excess in the answer of GET /ledger/balance, with a ledger. */
  readonly gives?: 'cash' | 'shares' | 'reserved';
}

interface Wire {
  readonly order: Omit<UnsignedOrder, 'side'> & { readonly side: string };
  readonly orderType: string;
}

interface Row {
  readonly user: string;
  readonly taker: boolean;
  readonly row: { side: string; asset: string; size: number; usdcSize: number };
}

/** A server without signatures, threads or disk, over the naive book. */
class TinyNode {
  readonly #faults: Faults;
  readonly #tokens = new Map<string, LoadToken>();
  readonly #known = new Set<string>();
  readonly #accounts: string[] = [];
  readonly #rows: Row[] = [];
  /** Split and traded amounts by address and token. */
  readonly #held = new Map<string, number>();
  #requests = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
    for (const { tokens } of markets()) {
      for (const token of tokens) this.#tokens.set(token.tokenId, token);
      const [first] = tokens;
      assert(first !== undefined);
      const middle = first.market.ticksPerUnit / 2;
      first.book.seed(SELL, middle + 1, 40 * MICRO);
      first.book.seed(BUY, middle - 1, 30_500_000);
    }
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url ?? '/', 'http://node');
    if (url.pathname === '/ledger/balance') {
      response.end(JSON.stringify(this.#balance(String(request.headers.service_address))));
      return;
    }
    if (url.pathname !== '/orders' && url.pathname !== '/split') {
      response.end(JSON.stringify(this.#read(url, body)));
      return;
    }
    if (url.pathname === '/split') {
      const address = String(request.headers.service_address);
      const { amount, conditionId } = JSON.parse(body) as { amount: string; conditionId: string };
      this.#split(address, conditionId, Number(amount));
      response.end('{}');
      return;
    }
    this.#requests += 1;
    if (this.#faults.busy?.(this.#requests)) {
      response.writeHead(503).end('{"error":"engine busy"}');
      return;
    }
    if (this.#faults.dropBefore?.(this.#requests)) {
      request.socket.destroy();
      return;
    }
    const answers = (JSON.parse(body) as Wire[]).map((wire) => this.#execute(wire));
    if (this.#faults.dropAfter?.(this.#requests)) request.socket.destroy();
    else response.end(JSON.stringify(answers));
  }

  #read(url: URL, body: string): unknown {
    if (url.pathname === '/time') return 1;
    if (url.pathname.startsWith('/auth/')) {
      return { apiKey: 'key', secret: 'AAAA', passphrase: 'phrase' };
    }
    if (url.pathname === '/trades') {
      const user = url.searchParams.get('user');
      const takerOnly = url.searchParams.get('takerOnly') === 'true';
      const offset = Number(url.searchParams.get('offset'));
      return this.#rows
        .filter((row) => row.user === user && (row.taker || !takerOnly))
        .slice(offset, offset + Number(url.searchParams.get('limit')))
        .map(({ row }) => row);
    }
    const asked = JSON.parse(body) as { token_id: string }[];
    const tokens = asked.flatMap(({ token_id }) => this.#tokens.get(token_id) ?? []);
    if (url.pathname === '/books') return tokens.map((token) => this.#book(token));
    return tokens.flatMap((token) => {
      const last = this.#last(token);
      if (last === undefined || this.#faults.forgetsLastTrades === true) return [];
      const price = priceText(last.ticks, token.market.ticksPerUnit);
      return [{ token_id: token.tokenId, price, side: last.side === BUY ? 'BUY' : 'SELL' }];
    });
  }

  #split(address: string, conditionId: string, amount: number): void {
    this.#add(address, 'cash', -amount);
    for (const { market, tokenId } of this.#tokens.values()) {
      if (market.conditionId === conditionId) this.#add(address, tokenId, amount);
    }
  }

  /** @param what `cash` or a token */
  #add(address: string, what: string, amount: number): void {
    const key = `${address}/${what}`;
    this.#held.set(key, (this.#held.get(key) ?? 0) + amount);
  }

  #balance(address: string): unknown {
    const { gives } = this.#faults;
    const account = this.#accounts.indexOf(address);
    const tokens = [...this.#tokens.values()];
    const reserved = (token: LoadToken, side: Side): number =>
      account === -1 ? 0 : token.book.reserved(account, token.slot, side);
    const amounts = (total: number, held: number) => ({
      total: String(total),
      reserved: String(held),
      free: String(total - held),
    });
    const more = (fault: typeof gives): number => (gives === fault ? 1 : 0);
    const cash = FAUCET * MICRO + (this.#held.get(`${address}/cash`) ?? 0) + more('cash');
    const costs = tokens.reduce((sum, token) => sum + reserved(token, BUY), more('reserved'));
    const positions = tokens.map((token) => {
      const shares = (this.#held.get(`${address}/${token.tokenId}`) ?? 0) + more('shares');
      return { token_id: token.tokenId, ...amounts(shares, reserved(token, SELL)) };
    });
    return { cash: amounts(cash, costs), positions };
  }

  #last(token: LoadToken): LastTrade | undefined {
    return token.book.lastTrades(token.slot).at(-1);
  }

  #book(token: LoadToken): unknown {
    const { ticksPerUnit, conditionId, minSizeMicro, negRisk } = token.market;
    const levels = (side: Side): unknown[] =>
      token.book.levels(token.slot, side).map(({ ticks, micro }) => ({
        price: priceText(ticks, ticksPerUnit),
        size: microText(micro),
      }));
    const last = this.#last(token);
    return {
      market: conditionId,
      asset_id: token.tokenId,
      bids: levels(BUY),
      asks: levels(SELL),
      min_order_size: microText(minSizeMicro),
      tick_size: priceText(1, ticksPerUnit),
      neg_risk: negRisk,
      last_trade_price: last === undefined ? '' : priceText(last.ticks, ticksPerUnit),
    };
  }

  #execute({ order: wire, orderType }: Wire): Answer {
    const nothing = { orderID: '', takingAmount: '', makingAmount: '' };
    const refused = (errorMsg: string): Answer => {
      return { success: false, errorMsg, ...nothing, status: 'error' };
    };
    const token = this.#tokens.get(wire.tokenId);
    assert(token !== undefined);
    const side = wire.side === 'BUY' ? BUY : SELL;
    const orderID = orderData(DOMAIN, { ...wire, side }).id;
    if (this.#known.has(wire.salt)) return { ...refused(DUPLICATED), orderID, status: 'live' };
    const amounts = [Number(wire.makerAmount), Number(wire.takerAmount)] as const;
    const [collateral, micro] = side === BUY ? amounts : [amounts[1], amounts[0]];
    const ticks = Math.round((collateral * token.market.ticksPerUnit) / micro);
    if (!this.#accounts.includes(wire.maker)) this.#accounts.push(wire.maker);
    const account = this.#accounts.indexOf(wire.maker);
    const taker: Order = {
      account,
      slot: token.slot,
      side,
      ticks,
      micro,
      collateralMax: collateral,
    };
    const match = token.book.preview(taker);
    if (orderType === 'FOK' && match.micro < micro) return refused(NOT_FILLED);
    token.book.commit(taker, match);
    if (this.#faults.forgetsDuplicates !== true) this.#known.add(wire.salt);
    const taken = { success: true, errorMsg: '', orderID };
    if (match.micro === 0) return { ...taken, takingAmount: '', makingAmount: '', status: 'live' };
    this.#trade(true, account, token, side, match.micro, match.collateral);
    for (const fill of match.fills) {
      const own = fill.crossToken ? token.market.tokens[1 - token.slot] : token;
      assert(own !== undefined);
      const { maker, micro: shares, makerCollateral } = fill;
      this.#trade(false, maker.account, own, maker.side, shares, makerCollateral);
    }
    const shares = microText(match.micro);
    const money = microText(match.collateral + (this.#faults.overstates === true ? 100 : 0));
    const [makingAmount, takingAmount] = side === BUY ? [money, shares] : [shares, money];
    return { ...taken, takingAmount, makingAmount, status: 'matched' };
  }

  #trade(
    taker: boolean,
    account: number,
    token: LoadToken,
    side: Side,
    micro: number,
    collateral: number,
  ): void {
    const address = this.#accounts[account] ?? 'somebody';
    this.#add(address, 'cash', side === BUY ? -collateral : collateral);
    this.#add(address, token.tokenId, side === BUY ? micro : -micro);
    if (!taker && this.#faults.forgetsMakerRows === true) return;
    const row = {
      side: side === BUY ? 'BUY' : 'SELL',
      asset: `${token.market.conditionId}:${token.outcome}`,
      size: micro / MICRO,
      usdcSize: collateral / MICRO,
    };
    this.#rows.push({ user: address, taker, row });
  }
}

async function load(faults: Faults, ledger = false): Promise<{ agrees: boolean; output: string }> {
  const node = new TinyNode(faults);
  // No connection ends for its silence while orders are signed on a slow machine: no answer is lost by chance.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    node.handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  const url = `http://127.0.0.1:${address.port}`;
  const parsed = parseOptions(['--url', url, '--orders', '300', '--wallets', '3'], Date.now());
  assert(parsed.ok);
  let output = '';
  const write = (text: string): void => {
    output += text;
  };
  try {
    const config = { ...CONFIG, ledger, faucet: FAUCET };
    const run = new LoadRun(parsed.options, config, markets(), undefined, write);
    return { agrees: await run.run(), output };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a load on a node that works agrees, and says so', async () => {
  const { agrees, output } = await load({});
  assert(agrees, output);
  assert.match(output, /300 of 300 orders, .* 0 refused/);
  assert.match(output, /durability: known for every order, no answer was lost/);
  assert.match(output, /after the load: all books, last prices and trades agree/);
});

test('answers lost before and after the execution are settled by sending again', async () => {
  const { agrees, output } = await load({
    dropAfter: (request) => request % 4 === 1,
    dropBefore: (request) => request % 4 === 3,
    busy: (request) => request % 5 === 0,
  });
  assert(agrees, output);
  assert.match(output, /lost their answer .* [1-9]\d* of those orders had been taken/);
});

test('every wallet has its deposits, splits and trades with a ledger', async () => {
  const lossy = { dropAfter: (request: number) => request % 4 === 1 };
  const { agrees, output } = await load(lossy, true);
  assert(agrees, output);
  assert.match(output, /after the load: all books, last prices, balances and trades agree/);
});

for (const gives of ['cash', 'shares', 'reserved'] as const) {
  test(`a node that reports a micro-unit too much of ${gives} is detected`, async () => {
    const { agrees, output } = await load({ gives }, true);
    assert(!agrees);
    assert.match(output, /\/ledger\/balance of 0x/);
  });
}

for (const [what, faults, found] of [
  ['executes an order twice', { forgetsDuplicates: true, dropAfter: (n) => n === 5 }, /expected/],
  [
    'has no last trade prices',
    { forgetsLastTrades: true },
    /\/last-trades-prices of token .* node none/,
  ],
  ['loses the makers rows', { forgetsMakerRows: true }, /\/trades of .* maker .* node 0 rows/],
  ['answers another amount than it trades', { overstates: true }, /expected/],
] as const satisfies readonly (readonly [string, Faults, RegExp])[]) {
  test(`a node that ${what} is detected`, async () => {
    const { agrees, output } = await load(faults);
    assert(!agrees);
    assert.match(output, found);
    assert.match(output, /after the load: \d+ differences/);
  });
}
