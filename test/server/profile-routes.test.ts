/** Every row of the table of CLIENT_PROFILE, seen from outside, in both profiles. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { PROFILE_TABLE, PROFILES, type Profile, type ProfileName } from '../../server/profile.ts';
import type { CatalogMarket } from '../../storage/catalog-file.ts';
import { order2DigestByEthers } from '../common/ethers.ts';
import {
  get,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { CHAIN_ID, type Result, type SigningRules, type Terms, Trader } from '../common/traders.ts';

/** A node of one profile: a plain market with a bid at 0.4 and an offer at 0.6, and an idle one. */
interface Venue {
  readonly node: TestNode;
  readonly rules: SigningRules;
  readonly alice: Trader;
  readonly plain: CatalogMarket;
  readonly risky: CatalogMarket;
}

function rulesOf(profile: Profile): SigningRules {
  const { credentialPrefix, domainName, exchangeAddress, negRiskExchangeAddress } = PROFILE_TABLE;
  const domain = { name: domainName[profile], version: '1', chainId: CHAIN_ID };
  return {
    prefix: credentialPrefix[profile],
    normal: { ...domain, verifyingContract: exchangeAddress[profile] },
    negRisk: { ...domain, verifyingContract: negRiskExchangeAddress[profile] },
  };
}

async function openVenue(profile: Profile): Promise<Venue> {
  const dataDir = temporaryDirectory();
  const [plain, risky] = await withMarkets(dataDir, [{ id: 1 }, { id: 2, negRisk: true }]);
  assert(plain && risky);
  const node = await TestNode.start(dataDir, { CLIENT_PROFILE: profile });
  const rules = rulesOf(profile);
  const alice = await Trader.join(node, 'alice', rules);
  const venue = { node, rules, alice, plain, risky };
  for (const [side, ticks] of [
    ['BUY', 40],
    ['SELL', 60],
    ['BUY', 60],
  ] as const) {
    await alice.place(node, { market: plain, side, ticks, shares: 10 });
  }
  await alice.place(node, { market: plain, side: 'SELL', ticks: 60, shares: 10 });
  await until(async () => ((await get(node, '/trades')).json as unknown[]).length > 0);
  return venue;
}

const venues: Readonly<Record<Profile, Venue>> = {
  spec: await openVenue('spec'),
  polymarket: await openVenue('polymarket'),
};

async function json(venue: Venue, path: string): Promise<unknown> {
  return (await get(venue.node, path)).json;
}

async function own(venue: Venue, path: string): Promise<unknown> {
  return (await venue.alice.call(venue.node, 'GET', path)).json;
}

/** The text of a refusal, or ''. */
async function refusal(venue: Venue, terms: Partial<Terms>): Promise<string> {
  const { alice, plain } = venue;
  const usual: Terms = { market: plain, side: 'BUY', ticks: 1, shares: 5 };
  const { error, errorMsg } = await post(venue, alice.sign({ ...usual, ...terms }).item);
  return error ?? errorMsg;
}

const BYTES32 = `0x${'0'.repeat(64)}`;
let salts = Date.now();

/** An item of version 2, of the first outcome unless told otherwise, and its digest by ethers. */
function signed2(
  { alice, plain, rules }: Venue,
  changes: Readonly<Record<string, unknown>> = {},
  outer: Readonly<Record<string, unknown>> = {},
) {
  salts += 1;
  const order = {
    salt: String(salts),
    maker: alice.address,
    signer: alice.address,
    tokenId: plain.tokenIds[0]!,
    makerAmount: '500000',
    takerAmount: '5000000',
    side: 0 as const,
    signatureType: 0,
    timestamp: String(Date.now()),
    metadata: BYTES32,
    builder: BYTES32,
    ...changes,
  };
  const verifyingContract = '0xE111180000d2663C0091e4f400237545B87B996B';
  const domain = { ...rules.normal, version: '2', verifyingContract };
  const { signature } = alice.wallet.signOrder(domain, order);
  const side = order.side === 0 ? 'BUY' : 'SELL';
  const sent = { ...order, salt: salts, side, expiration: '0', signature, ...outer };
  const item = { order: sent, orderType: 'GTC', owner: alice.trio.apiKey, deferExec: false };
  return { item, id: order2DigestByEthers(domain, order) };
}

async function post(venue: Venue, item: object): Promise<Result & { readonly error?: string }> {
  const reply = await venue.alice.ask(venue.node, 'POST', '/order', JSON.stringify(item));
  return reply.json as Result & { readonly error?: string };
}

interface Seen extends Readonly<Record<Profile, unknown>> {
  readonly look: (venue: Venue) => Promise<unknown>;
}

/** What each row makes visible. A new row needs one. */
const ROWS: Readonly<Record<ProfileName, Seen>> = {
  credentialPrefix: {
    look: async ({ node }) => ((await get(node, '/data/orders')).json as { error: string }).error,
    spec: 'invalid_l2: missing header SERVICE_ADDRESS',
    polymarket: 'invalid_l2: missing header POLY_ADDRESS',
  },
  domainName: {
    look: (venue) =>
      refusal(venue, { domain: { ...venue.rules.normal, name: 'Polymarket CTF Exchange' } }),
    spec: 'invalid order signature',
    polymarket: '',
  },
  exchangeAddress: {
    look: (venue) => {
      const verifyingContract = '0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E';
      return refusal(venue, { domain: { ...venue.rules.normal, verifyingContract } });
    },
    spec: 'invalid order signature',
    polymarket: '',
  },
  negRiskExchangeAddress: {
    look: (venue) => {
      const verifyingContract = '0xC5d563A36AE78145C45a50134d48A1215220f80a';
      const domain = { ...venue.rules.normal, verifyingContract };
      return refusal(venue, { market: venue.risky, domain });
    },
    spec: 'invalid order signature',
    polymarket: '',
  },
  orderVersion: {
    look: async (venue) => {
      const { error, errorMsg } = await post(venue, signed2(venue).item);
      return [error ?? errorMsg, await json(venue, '/version')];
    },
    spec: ['order_version_mismatch', { version: 1 }],
    polymarket: ['', { version: 1 }],
  },
  resolveConditionId: {
    look: (venue) => refusal(venue, { sent: { conditionId: undefined } }),
    spec: 'Invalid order payload',
    polymarket: '',
  },
  duplicateOrders: {
    look: async (venue) => {
      const usual: Terms = { market: venue.plain, side: 'BUY', ticks: 1, shares: 5 };
      const { item } = venue.alice.sign(usual);
      const first = await post(venue, item);
      const second = await post(venue, item);
      return second.orderID === first.orderID && [second.success, second.status];
    },
    spec: [false, 'live'],
    polymarket: [true, 'live'],
  },
  orderTexts: {
    look: async (venue) => [
      await refusal(venue, { ticks: 60, shares: 5_000, type: 'FOK' }),
      await refusal(venue, { ticks: 60, postOnly: true }),
      await refusal(venue, { side: 'SELL', ticks: 40, postOnly: true }),
      await refusal(venue, { ticks: 50, type: 'FAK' }),
    ],
    spec: [
      "order couldn't be fully filled, FOK orders are fully filled/killed",
      'postOnly would cross the best ask',
      'postOnly would cross the best bid',
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
    ],
    polymarket: [
      "order couldn't be fully filled. FOK orders are fully filled or killed.",
      'invalid post-only order: order crosses book',
      'invalid post-only order: order crosses book',
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
    ],
  },
  orderStatus: {
    look: async (venue) => {
      const { data } = (await own(venue, '/data/orders')) as { data: { status: string }[] };
      return data.at(-1)?.status;
    },
    spec: 'live',
    polymarket: 'LIVE',
  },
  apiKeysAnswer: {
    look: async (venue) => {
      const answer = await own(venue, '/auth/api-keys');
      return Array.isArray(answer) ? 'array' : Object.keys(answer as object);
    },
    spec: 'array',
    polymarket: ['apiKeys'],
  },
  priceOfBuy: {
    look: async (venue) => {
      const [token = ''] = venue.plain.tokenIds;
      const both = JSON.stringify([{ token_id: token }]);
      const { json: prices } = await send(venue.node, 'POST', '/prices', {}, both);
      return [
        await json(venue, `/price?token_id=${token}&side=BUY`),
        await json(venue, `/price/${token}?side=SELL`),
        (prices as Record<string, object>)[token],
      ];
    },
    spec: [{ price: '0.6' }, { price: '0.4' }, { BUY: '0.6', SELL: '0.4' }],
    polymarket: [{ price: '0.4' }, { price: '0.6' }, { BUY: '0.4', SELL: '0.6' }],
  },
  booksSide: {
    look: async ({ node, plain }) => {
      const body = JSON.stringify([{ token_id: plain.tokenIds[0], side: 'BUY' }]);
      const { json: books } = await send(node, 'POST', '/books', {}, body);
      const [book] = books as { asks: unknown[]; bids: unknown[] }[];
      return [book!.bids.length > 0, book!.asks.length > 0];
    },
    spec: [true, false],
    polymarket: [true, true],
  },
  untraded: {
    look: async (venue) => {
      const paths = ['midpoint', 'last-trade-price'].map(
        (name) => `/${name}?token_id=${venue.risky.tokenIds[0]}`,
      );
      return [await json(venue, paths[0]!), await json(venue, paths[1]!)];
    },
    spec: [
      { error: 'No midpoint for the requested token id' },
      { error: 'No trades found for the requested token id' },
    ],
    // A bid of 0.01 rests there.
    polymarket: [{ mid: '0.505' }, { price: '0.5', side: '' }],
  },
  tradesAsset: {
    look: async (venue) => {
      const [trade] = (await json(venue, '/trades')) as { asset: string }[];
      const { conditionId, tokenIds } = venue.plain;
      return { [`${conditionId}:0`]: 'outcome', [tokenIds[0]!]: 'token' }[trade!.asset];
    },
    spec: 'outcome',
    polymarket: 'token',
  },
  tradesFields: {
    look: async ({ node }) => {
      const { headers, status } = await get(node, '/trades?limit=1&start=5&asset_id=7');
      return [status, headers['x-ignored-parameters']];
    },
    spec: [400, undefined],
    polymarket: [200, 'start, asset_id'],
  },
  catalogObjects: {
    look: async (venue) => {
      const [listed] = (await json(venue, '/events?limit=1')) as object[];
      const market = (await json(venue, '/markets/1')) as object;
      return ['markets' in listed!, 'marketMakerAddress' in market];
    },
    spec: [false, false],
    polymarket: [true, true],
  },
  marketRoutes: {
    look: async (venue) => {
      const id = venue.plain.conditionId;
      const kind = (answer: unknown): string => {
        const [row] = Array.isArray(answer) ? answer : ((answer as { data?: [] }).data ?? [answer]);
        const found = row as object;
        return 'tokens' in found ? 'trading' : 'id' in found ? 'catalog' : 'sampling';
      };
      const paths = ['/markets?next_cursor=', `/markets/${id}`, '/sampling-markets', '/markets'];
      const under = [`/clob/markets/${id}`, `/gamma/markets/${id}`, '/gamma/markets?next_cursor='];
      return Promise.all([...paths, ...under].map(async (path) => kind(await json(venue, path))));
    },
    spec: ['catalog', 'catalog', 'sampling', 'catalog', 'trading', 'catalog', 'catalog'],
    polymarket: ['trading', 'trading', 'trading', 'catalog', 'trading', 'catalog', 'catalog'],
  },
  dataTrades: {
    look: async (venue) => {
      const open = await get(venue.node, '/data/trades?limit=1');
      const signed = (await own(venue, '/data/trades')) as { readonly count: number };
      return [open.status, signed.count > 0];
    },
    spec: [401, true],
    polymarket: [200, true],
  },
};

test('an order of version 2 rests, is known by its digest, is matched and cancelled as one of version 1', async () => {
  const venue = venues.polymarket;
  const { alice, node, plain } = venue;
  const bid = signed2(venue, { makerAmount: '2500000' });
  const placed = await post(venue, bid.item);
  assert.deepEqual([placed.errorMsg, placed.status, placed.orderID], ['', 'live', bid.id]);
  assert.deepEqual(await post(venue, bid.item), placed, 'replayed');
  // Version 1 takes half a bid of version 2, at its price.
  const sold = await alice.place(node, { market: plain, side: 'SELL', ticks: 50, shares: 5 });
  assert.deepEqual([sold.status, sold.makingAmount, sold.takingAmount], ['matched', '5', '2.5']);
  const { status } = (await own(venue, `/data/order/${bid.id}`)) as { status: string };
  assert.equal(status, 'MATCHED');
  const rest = signed2(venue, { side: 1, makerAmount: '7000000', takerAmount: '6300000' });
  assert.equal((await post(venue, rest.item)).orderID, rest.id);
  assert.deepEqual((await alice.cancel(node, '/order', { orderID: rest.id })).canceled, [rest.id]);
});

test('what version 2 signs is checked, and what it does not sign may be anything', async () => {
  const venue = venues.polymarket;
  const { item } = signed2(venue);
  for (const change of [{ timestamp: '5' }, { builder: `0x${'1'.repeat(64)}` }, { salt: 7 }]) {
    const { errorMsg } = await post(venue, { ...item, order: { ...item.order, ...change } });
    assert.equal(errorMsg, 'invalid order signature', JSON.stringify(change));
  }
  const { error } = await post(venue, { ...item, order: { ...item.order, metadata: '0x1' } });
  assert.equal(error, 'Invalid order payload');
  const later = String(Math.floor(Date.now() / 1000) + 1000);
  const gtd = signed2(venue, {}, { expiration: later });
  assert.equal((await post(venue, { ...gtd.item, orderType: 'GTD' })).errorMsg, '');
});

test('pages of markets follow one another to the end, tokens and prices in them', async () => {
  const { node, plain } = venues.polymarket;
  const { json: answer } = await get(node, '/markets?next_cursor=MA%3D%3D');
  const { data, ...rest } = answer as {
    data: { condition_id: string; tokens: { price: number; token_id: string }[] }[];
  };
  assert.deepEqual(rest, { limit: 100, next_cursor: 'LTE=', count: 2 });
  const { tokens = [] } = data.find(({ condition_id: id }) => id === plain.conditionId) ?? {};
  assert.deepEqual(
    tokens.map(({ token_id: id }) => id),
    plain.tokenIds,
  );
  // Figures come up to a second behind the books, and always both at once.
  const [yes, no] = tokens.map(({ price }) => price);
  assert(yes! > 0 && Math.abs(yes! + no! - 1) < 1e-9);
});

for (const profile of PROFILES) {
  for (const [name, seen] of Object.entries(ROWS)) {
    test(`${name} in the profile ${profile}`, async () => {
      assert.deepEqual(await seen.look(venues[profile]), seen[profile]);
    });
  }
}
