/** POST /orders/explain on a whole node (docs/protocol.md#explaining-an-order). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { NEG_RISK, NORMAL, type Signed, type Terms, Trader } from '../common/traders.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const node = await TestNode.start(dataDir, {
  LEDGER: 'on',
  FAUCET: '1000',
  SELF_TRADE: 'cancel-both',
  RATE_LIMITS: 'on',
  RATE_LIMITS_OVERRIDES: 'explain=40/3600',
});
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const ORDER: Terms = { market, side: 'BUY', ticks: 40, shares: 10 };

interface Explained {
  readonly accepted: boolean;
  readonly errorMsg: string;
  readonly code?: string;
  readonly detail: string;
  readonly needed?: string;
  readonly orderID: string;
  readonly domain: Readonly<Record<string, unknown>>;
  readonly signature: {
    readonly recovered: string;
    readonly by: string;
    readonly fits: string;
    readonly tried: readonly string[];
  };
}

async function explained({ item }: Signed, by = alice): Promise<Explained> {
  const reply = await by.ask(node, 'POST', '/orders/explain', JSON.stringify(item));
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Explained;
}

/** Everything that an order could have changed. */
async function state(): Promise<string> {
  const paths = [`/book?token_id=${market!.tokenIds[0]}`, '/trades'];
  const texts = await Promise.all(paths.map(async (path) => (await get(node, path)).text));
  const own = await alice.ask(node, 'GET', '/data/orders');
  const balance = await alice.ask(node, 'GET', '/ledger/balance');
  const { timestamp: _, ...book } = JSON.parse(texts[0]!) as Record<string, unknown>;
  return JSON.stringify([book, texts[1], own.json, balance.json]);
}

test('an order that no rule refuses is explained with its hash and domain, and not placed', async () => {
  const signed = alice.sign(ORDER);
  const before = await state();
  const answer = await explained(signed);
  assert.equal(answer.accepted, true);
  assert.equal(answer.errorMsg, '');
  assert.equal(answer.orderID, signed.id);
  assert.deepEqual(answer.domain, NORMAL);
  const { address } = alice;
  assert.deepEqual(answer.signature, { recovered: address, by: 'signer', fits: '', tried: [] });
  assert.equal(await state(), before);
  const placed = await alice.place(node, ORDER);
  assert.equal(placed.status, 'live');
});

test('a signature for another domain is explained by the domain that it fits', async () => {
  const chain = await explained(alice.sign({ ...ORDER, domain: { ...NORMAL, chainId: 80_002 } }));
  assert.deepEqual(
    [chain.accepted, chain.code, chain.signature.fits, chain.signature.by],
    [false, 'INVALID_SIGNATURE', 'chain id 80002', 'another key'],
  );
  const contract = await explained(alice.sign({ ...ORDER, domain: NEG_RISK }));
  assert.match(contract.signature.fits, /^the contract of neg-risk markets/);
  const typed = await explained(alice.sign({ ...ORDER, sent: { signatureType: 1 } }));
  assert.equal(typed.signature.fits, 'signatureType 0');
  const amount = await explained(alice.sign({ ...ORDER, sent: { makerAmount: '4000001' } }));
  assert.equal(amount.signature.fits, '');
  assert(amount.signature.tried.length > 10, 'every domain was tried');
});

test('the address that signed is named by its part in the order', async () => {
  const { address } = bob;
  const foreign = await explained(alice.sign({ ...ORDER, sent: { signer: address } }));
  assert.deepEqual([foreign.code, foreign.signature.by], ['OWNER_MISMATCH', 'another key']);
  const own = await explained(
    alice.sign({ ...ORDER, signed: { signer: address }, sent: { signer: address } }),
  );
  assert.deepEqual([own.code, own.signature.by], ['OWNER_MISMATCH', 'maker']);
  assert.equal(own.signature.recovered, alice.address);
});

test('the rule that refuses is the one of the order itself, with its numbers', async () => {
  const cases: readonly (readonly [Partial<Terms>, string])[] = [
    [{ ticks: 40.5 }, 'TICK_SIZE'],
    [{ shares: 1 }, 'SIZE_BELOW_MINIMUM'],
    [{ shares: 1_000_000 }, 'NOT_ENOUGH_BALANCE'],
    [{ type: 'FOK' }, 'FOK_NOT_FILLED'],
    [{ type: 'FAK' }, 'FAK_NOT_FILLED'],
    [{ type: 'GTD' }, 'EXPIRATION_REQUIRED'],
    [{ signed: { feeRateBps: '1001' } }, 'FEE_TOO_HIGH'],
  ];
  for (const [terms, code] of cases) {
    const signed = alice.sign({ ...ORDER, ...terms });
    const answer = await explained(signed);
    assert.equal(answer.code, code);
    const reply = await alice.ask(node, 'POST', '/order', JSON.stringify(signed.item));
    assert.equal((reply.json as Explained).errorMsg, answer.errorMsg);
  }
  const short = await explained(alice.sign({ ...ORDER, shares: 1_000_000 }));
  assert.equal(short.needed, '400000');
});

test('a trial of an order that would cancel both sides leaves the other one open', async () => {
  const before = await state();
  const crossing = await explained(alice.sign({ market, side: 'SELL', ticks: 40, shares: 5 }));
  assert.equal(crossing.code, 'NOT_ENOUGH_BALANCE');
  const mirrored = { market, outcome: 1, side: 'BUY', ticks: 60, shares: 5 } as const;
  assert.equal((await explained(alice.sign(mirrored))).code, 'SELF_TRADE');
  assert.equal(await state(), before);
});

test('the answer shows nothing of another wallet', async () => {
  const signed = bob.sign({ ...ORDER, shares: 1_000_000 });
  const answer = await explained({ ...signed, item: { ...signed.item, owner: alice.trio.apiKey } });
  assert.deepEqual([answer.code, answer.needed], ['OWNER_MISMATCH', undefined]);
});

test('a body without an order, a missing key and more than the row allows are refused', async () => {
  const bad = await alice.ask(node, 'POST', '/orders/explain', '{"order":{}}');
  assert.equal(bad.status, 400);
  assert.equal((bad.json as { error: string }).error, 'Invalid order payload');
  const body = JSON.stringify(alice.sign(ORDER).item);
  const headers = { method: 'POST', body };
  const bare = await fetch(`http://127.0.0.1:${node.port}/orders/explain`, headers);
  assert.equal(bare.status, 401);
  const statuses = new Set<number>();
  for (let i = 0; i < 41; i++) {
    const reply = await alice.ask(node, 'POST', '/orders/explain', body);
    statuses.add(reply.status);
    if (reply.status === 429) assert.notEqual(reply.headers['retry-after'], undefined);
  }
  assert.deepEqual([...statuses], [200, 429]);
});
