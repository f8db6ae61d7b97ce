/** Batches of wallets on a whole node, signed by ethers (docs/protocol.md#relayed-batches). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient } from '../../client/client.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import {
  approve,
  approveAll,
  type Call,
  COLLATERAL,
  COLLATERAL_ADAPTER,
  CONDITIONAL,
  call,
  merge,
  NEG_RISK_ADAPTER,
  NEG_RISK_COLLATERAL_ADAPTER,
  POSITIONS,
  ROUTER,
  redeem,
  routerMerge,
  routerSplit,
  split,
} from './batches.ts';
import { M, Owner, submit, type Venue } from './owner.ts';

const dataDir = temporaryDirectory();
const markets = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, negRisk: true },
  { id: 3, hasPositions: true },
  { id: 4, hasPositions: true, negRisk: true },
]);
const [NORMAL = '', RISKY = '', FIRST = '', SECOND = ''] = markets.map(
  ({ conditionId }) => conditionId,
);
const operator = await OperatorNode.start(dataDir, { CLIENT_PROFILE: 'polymarket', LEDGER: 'on' });
const venue: Venue = { operator, markets };

/** Other contracts of the approvals that the official package asks for before it trades. */
const EXCHANGES = [
  '0xE111180000d2663C0091e4f400237545B87B996B',
  '0xe2222d279d744050d28e00520010520000310F59',
];
const EXCHANGE_3 = '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa';
const PERPETUALS = '0xDCa4af75705dbB50f62437045afF9921947917d2';
const REDEEMER = '0xa1200000d0002264C9a1698e001292D00E1b00af';
const MODULES = [
  '0x1000008DD9001B968442C1000017EAE6E0da00Ba',
  '0x200000900045E3B6259600682756002200028933',
].map((text) => text.toLowerCase());

/** Approvals that the official package asks for before it trades, in one batch. */
const APPROVALS = [
  ...[...EXCHANGES, COLLATERAL_ADAPTER, NEG_RISK_COLLATERAL_ADAPTER, ROUTER, EXCHANGE_3].map(
    (spender) => approve(spender),
  ),
  approve(PERPETUALS),
  ...[...EXCHANGES, COLLATERAL_ADAPTER, NEG_RISK_COLLATERAL_ADAPTER, REDEEMER, ...MODULES].map(
    (spender) => approveAll(CONDITIONAL, spender),
  ),
  ...[ROUTER, EXCHANGE_3, REDEEMER].map((spender) => approveAll(POSITIONS, spender)),
];

test('a wallet is there once its owner has a key, and its batch of approvals is confirmed', async () => {
  const stranger = new Owner(venue, 'stranger');
  const create = { type: 'WALLET-CREATE', from: stranger.wallet.address, to: ROUTER };
  assert.equal(
    ((await submit(venue, create)).json as { code: string }).code,
    'WALLET_NOT_DEPLOYED',
  );
  await stranger.fails('WALLET_NOT_DEPLOYED', APPROVALS);
  const owner = await Owner.join(venue, 'stranger', 'WALLET', 0);
  const { json, status } = await submit(venue, create);
  const id = `${owner.address.toLowerCase()}-create`;
  assert.equal(status, 200);
  assert.equal((json as { transactionID: string }).transactionID, id);
  const made = (await get(operator.node, `/v1/account/transactions/${id}`)).json;
  assert.equal((made as { state: string }).state, 'STATE_CONFIRMED');
  assert.equal(APPROVALS.length, 17);
  await owner.does(...APPROVALS);
  await owner.does(approve(EXCHANGE_3, 1n));
  await owner.does(...Array.from({ length: 32 }, () => approve(ROUTER)));
  const [shown] = (await get(operator.node, `/transaction?id=${id.replace('create', '1')}`))
    .json as { state: string; proxyAddress: string; nonce: string }[];
  assert.equal(`${shown?.state} ${shown?.nonce}`, 'STATE_CONFIRMED 1');
  assert.equal(shown?.proxyAddress, owner.address.toLowerCase());
  for (const other of ['3', '01', '-1', '99999999999', 'x']) {
    const unknown = id.replace('create', other);
    assert.deepEqual((await get(operator.node, `/transaction?id=${unknown}`)).json, []);
    const path = `/v1/account/transactions/${unknown}`;
    assert.equal((await get(operator.node, path)).status, 404, other);
  }
});

test('wallets of each kind split and merge in markets of each form, to the micro-unit', async () => {
  for (const kind of ['WALLET', 'SAFE', 'PROXY'] as const) {
    const owner = await Owner.join(venue, `each form ${kind}`, kind);
    await owner.does(split(COLLATERAL_ADAPTER, NORMAL, 10 * M));
    await owner.does(
      split(CONDITIONAL, NORMAL, 5),
      split(NEG_RISK_COLLATERAL_ADAPTER, RISKY, 20 * M),
      routerSplit(FIRST, 30 * M),
      routerSplit(SECOND, 3_999_995),
    );
    const both = (shares: number) => [shares, shares];
    const held = [...both(10.000005), ...both(20), ...both(30), ...both(3.999995)];
    assert.deepEqual(await owner.has(), [36, ...held]);
    await owner.does(
      merge(NEG_RISK_ADAPTER, RISKY, 1),
      call(NEG_RISK_ADAPTER, 'mergePositions(bytes32,uint256)', RISKY, 20 * M - 1),
      merge(CONDITIONAL, NORMAL, 10_000_005),
      routerMerge(FIRST, 30 * M),
      routerMerge(SECOND, 3_999_995),
      call(NEG_RISK_ADAPTER, 'splitPosition(bytes32,uint256)', RISKY, 100 * M),
    );
    assert.deepEqual(await owner.has(), [0, 0, 0, 100, 100, 0, 0, 0, 0]);
    const types = async (): Promise<readonly string[]> => {
      const { json } = await get(operator.node, `/activity?user=${owner.address}`);
      return (json as { readonly type: string }[]).map(({ type }) => type).sort();
    };
    const expected = [...Array<string>(5).fill('MERGE'), ...Array<string>(6).fill('SPLIT')];
    await until(async () => (await types()).filter((type) => type !== 'DEPOSIT').length >= 11);
    assert.deepEqual(
      (await types()).filter((type) => type !== 'DEPOSIT'),
      expected,
    );
  }
});

test('an owner finds its wallet, approves, splits, sells and merges what no order holds', async () => {
  const owner = await Owner.join(venue, 'trader');
  const deployed = async (address: string): Promise<unknown> =>
    (await get(operator.node, `/deployed?address=${address}&type=WALLET`)).json;
  assert.deepEqual(await deployed(owner.wallet.address), { deployed: false });
  assert.deepEqual(await deployed(owner.address), { deployed: true });
  await owner.does(...APPROVALS);
  await owner.does(split(COLLATERAL_ADAPTER, NORMAL, 20 * M));
  const url = `http://127.0.0.1:${operator.node.port}`;
  const client = await NodeClient.connect(url, {
    wallet: owner.wallet,
    depositWallet: owner.address,
  });
  const [tokenId = ''] = markets[0]!.tokenIds;
  const ask = await client.orders.post({ tokenId, side: 'SELL', price: '0.5', size: '15' });
  client.close();
  assert.equal(ask.status, 'live', ask.reason);
  const { call: index } = await owner.fails('NOT_ENOUGH_BALANCE', [
    merge(COLLATERAL_ADAPTER, NORMAL, 5 * M),
    merge(COLLATERAL_ADAPTER, NORMAL, 1),
  ]);
  assert.equal(index, '1');
  await owner.does(merge(COLLATERAL_ADAPTER, NORMAL, 5 * M));
  assert.deepEqual((await owner.has()).slice(0, 3), [85, 15, 15]);
});

test('a batch is whole: the call that fails is named, and those before it change nothing', async () => {
  const owner = await Owner.join(venue, 'whole');
  await owner.does(split(COLLATERAL_ADAPTER, NORMAL, 40 * M));
  const whole = [split(COLLATERAL_ADAPTER, NORMAL, 10 * M), approve(ROUTER)];
  const cases: readonly (readonly [string, Call])[] = [
    ['NOT_ENOUGH_BALANCE', split(COLLATERAL_ADAPTER, NORMAL, 50 * M + 1)],
    ['NOT_ENOUGH_BALANCE', merge(COLLATERAL_ADAPTER, NORMAL, 50 * M + 1)],
    ['NOT_ENOUGH_BALANCE', routerMerge(FIRST, 1)],
    ['AMOUNT_INVALID', split(COLLATERAL_ADAPTER, NORMAL, 0)],
    ['AMOUNT_INVALID', split(COLLATERAL_ADAPTER, NORMAL, 2n ** 53n)],
    ['AMOUNT_INVALID', merge(COLLATERAL_ADAPTER, NORMAL, 2n ** 256n - 1n)],
    ['MARKET_UNRESOLVED', redeem(COLLATERAL_ADAPTER, NORMAL)],
    ['MARKET_NOT_REGISTERED', split(COLLATERAL_ADAPTER, `0x${'7'.repeat(64)}`, M)],
    ['INVALID_CALL', split(COLLATERAL_ADAPTER, RISKY, M)],
    ['INVALID_CALL', split(NEG_RISK_COLLATERAL_ADAPTER, NORMAL, M)],
    ['INVALID_CALL', split(CONDITIONAL, FIRST, M)],
    ['UNKNOWN_CALL', split(ROUTER, NORMAL, M)],
    ['UNKNOWN_CALL', split(COLLATERAL, NORMAL, M)],
    ['UNKNOWN_CALL', split(owner.address, NORMAL, M)],
    ['UNKNOWN_CALL', call(COLLATERAL, 'transfer(address,uint256)', ROUTER, M)],
    ['UNKNOWN_CALL', approve(owner.address)],
    ['UNKNOWN_CALL', approveAll(CONDITIONAL, ROUTER)],
    ['UNKNOWN_CALL', approveAll(COLLATERAL, ROUTER)],
    ['INVALID_CALL', approve(ROUTER, 0n)],
    ['INVALID_CALL', approveAll(POSITIONS, ROUTER, false)],
    ['UNKNOWN_CALL', { target: CONDITIONAL, data: '0x' }],
    ['INVALID_CALL', { target: COLLATERAL, data: approve(ROUTER).data.slice(0, -2) }],
  ];
  for (const [code, failing] of cases) {
    const { call: index } = await owner.fails(code, [...whole, failing, approve(ROUTER)]);
    assert.equal(index, '2', `${code} ${JSON.stringify(failing)}`);
  }
  const data = split(COLLATERAL_ADAPTER, NORMAL, M).data;
  for (let cut = 10; cut < data.length; cut += 26) {
    await owner.fails('INVALID_CALL', [{ target: COLLATERAL_ADAPTER, data: data.slice(0, cut) }]);
  }
  const sets = '(address,bytes32,bytes32,uint256[],uint256)';
  const name = `splitPosition${sets}`;
  const zero = `0x${'0'.repeat(64)}`;
  for (const args of [
    [ROUTER, zero, NORMAL, [1, 2], M],
    [COLLATERAL, NORMAL, NORMAL, [1, 2], M],
    [COLLATERAL, zero, NORMAL, [1], M],
    [COLLATERAL, zero, NORMAL, [1, 1], M],
    [COLLATERAL, zero, NORMAL, [1, 2, 4], M],
    [COLLATERAL, zero, NORMAL, [], M],
  ]) {
    await owner.fails('INVALID_CALL', [call(COLLATERAL_ADAPTER, name, ...args)]);
  }
});

test('replayed, foreign, unsigned and late batches are refused, with the nonce that is right', async () => {
  const owner = await Owner.join(venue, 'signed');
  const other = await Owner.join(venue, 'foreign');
  const calls = [split(COLLATERAL_ADAPTER, NORMAL, M)];
  const first = await owner.signed(calls);
  await owner.does(split(COLLATERAL_ADAPTER, NORMAL, M));
  const replayed = await submit(venue, first);
  assert.deepEqual(
    [replayed.status, (replayed.json as { error: string }).error],
    [400, 'batch nonce 0 does not match on-chain nonce 1'],
  );
  for (const nonce of [2, '4294967297', '99999999999999999999999999']) {
    const { error } = await owner.fails('NONCE_MISMATCH', calls, { nonce });
    assert.equal(error, `batch nonce ${nonce} does not match on-chain nonce 1`);
  }
  const code = async (body: object): Promise<string> => {
    const { json, status, text } = await submit(venue, body);
    assert(status >= 400 && status < 500, text);
    return (json as { code: string }).code;
  };
  const good = (await owner.signed(calls)) as Record<string, unknown> & { signature: string };
  const foreign = (await other.signed(calls)) as { depositWalletParams: object; signature: string };
  assert.equal(await code({ ...good, signature: foreign.signature }), 'INVALID_BATCH_SIGNATURE');
  assert.equal(await code({ ...good, from: other.wallet.address }), 'WALLET_FOREIGN');
  const { depositWalletParams } = foreign;
  assert.equal(await code({ ...good, depositWalletParams }), 'WALLET_FOREIGN');
  const { signature, ...unsigned } = good;
  assert.equal(await code(unsigned), 'INVALID_FIELD');
  const twin = `0x${signature.slice(2, 66)}${'f'.repeat(64)}1b`;
  for (const bad of ['0x', `${signature}00`, twin, `0x${'0'.repeat(130)}`]) {
    assert.equal(await code({ ...good, signature: bad }), 'INVALID_BATCH_SIGNATURE', bad);
  }
  const session = await submit(venue, { ...good, signature: `${signature}${'6492'.repeat(16)}` });
  assert.match((session.json as { detail: string }).detail, /session key/);
  await owner.fails('INVALID_BATCH_SIGNATURE', calls, { chainId: 80_002 });
  await owner.fails('BATCH_EXPIRED', calls, { deadline: Math.floor(Date.now() / 1000) - 2 });
  for (const body of [
    { ...good, type: 'OTHER' },
    { ...good, type: 'constructor' },
    { ...good, nonce: 1 },
    { ...good, nonce: '01' },
    { ...good, depositWalletParams: { ...depositWalletParams, calls: [] } },
    { ...good, metadata: 'x'.repeat(501) },
  ]) {
    assert.equal(await code(body), 'INVALID_FIELD', JSON.stringify(body));
  }
  assert.equal(await code([]), 'INVALID_BODY');
  await owner.fails(
    'INVALID_FIELD',
    Array.from({ length: 33 }, () => calls[0]!),
  );
  await owner.isNext();
  await owner.does(...calls);
});

test('of batches that share a nonce and come at once, one is applied', async () => {
  const owner = await Owner.join(venue, 'at once');
  const bodies = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((n) => owner.signed([split(COLLATERAL_ADAPTER, NORMAL, n * M)])),
  );
  const statuses = await Promise.all(
    bodies.map(async (body) => (await submit(venue, body)).status),
  );
  assert.deepEqual([...statuses].sort(), [200, 400, 400, 400, 400, 400]);
  owner.nonce = 1;
  await owner.isNext();
  const shares = 1 + statuses.indexOf(200);
  assert.deepEqual((await owner.has()).slice(0, 3), [100 - shares, shares, shares]);
});

test('a banned owner or wallet relays nothing', async () => {
  for (const named of ['owner', 'wallet'] as const) {
    const owner = await Owner.join(venue, `banned ${named}`);
    const wallet = named === 'owner' ? owner.wallet.address : owner.address;
    await operator.done('POST /admin/bans', { wallet, reason: 'test' });
    await owner.fails('ADDRESS_BANNED', [split(COLLATERAL_ADAPTER, NORMAL, M)]);
  }
});
