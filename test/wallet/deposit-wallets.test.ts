/** A deposit wallet on a whole node: its owner trades, reads and cancels with it; nobody else does. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { NodeClient, type SignedOrder, Wallet } from '../../client/client.ts';
import { signingDomainOf, signOrder } from '../../client/exchange.ts';
import type { Routes } from '../../client/types.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { depositWalletByEthers } from '../common/ethers.ts';
import { temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';

const dataDir = temporaryDirectory();
const [old, risky, first, second] = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, negRisk: true },
  { id: 3, hasPositions: true },
  { id: 4, hasPositions: true, negRisk: true },
]);
assert(old && risky && first && second);
const operator = await OperatorNode.start(dataDir, {
  CLIENT_PROFILE: 'polymarket',
  LEDGER: 'on',
  FAUCET: '1000',
  RESULT_CODES: 'on',
  HEARTBEAT_SECONDS: '1',
});
const url = `http://127.0.0.1:${operator.node.port}`;
const BEACON = PROFILE_TABLE.beaconWalletFactory.polymarket;
const UUPS = '0xdf8b9E8f9AB23f261F6e1B171B7454ae6E46Ba76';
/** The owner of UUPS, by a key that everybody knows. */
const UUPS_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const clients: NodeClient[] = [];
after(() => {
  for (const client of clients) client.close();
});

interface Owner {
  readonly wallet: Wallet;
  readonly deposit: string;
  readonly client: NodeClient;
}

async function join(wallet: Wallet, deposit?: string): Promise<Owner> {
  const address = deposit ?? depositWalletByEthers(BEACON, wallet.address).wallet;
  const client = await NodeClient.connect(url, { wallet, depositWallet: address });
  clients.push(client);
  const id = `deposit ${address}`;
  await operator.done('POST /admin/ledger/deposit', { wallet: address, amount: '500', id });
  return { wallet, deposit: address, client };
}

const owner = await join(Wallet.fromSeed('owner of a deposit wallet'));
const other = await NodeClient.connect(url, { wallet: Wallet.fromSeed('other side') });
clients.push(other);

async function told({ client }: Owner, query: object): Promise<string> {
  const asked = { asset_type: 'COLLATERAL', signature_type: 3, ...query } as const;
  return (await client.call('GET /balance-allowance', { query: asked })).balance;
}

test('a deposit wallet buys in markets of both versions and kinds, and its owner reads and cancels', async () => {
  const { client, deposit, wallet } = owner;
  const events: string[] = [];
  const stream = await client.followUser({
    order: (event) => events.push(`${event.type} ${event.maker_address}`),
    trade: (event) => events.push(`${event.type} ${event.maker_orders[0]!.maker_address}`),
  });
  for (const [i, market] of [old, risky, first, second].entries()) {
    const [tokenId = '', opposite = ''] = market.tokenIds;
    const placed = await client.orders.post({ tokenId, side: 'BUY', price: '0.4', size: '10' });
    assert.equal(placed.status, 'live', `${placed.reason} ${placed.detail}`);
    const open = [];
    for await (const order of client.orders.open({ market: market.conditionId })) open.push(order);
    assert.deepEqual(
      open.map((order) => [order.id, order.maker_address, order.asset_id]),
      [[placed.id, deposit, tokenId]],
    );
    const taken = await other.orders.post({
      tokenId: opposite,
      side: 'BUY',
      price: '0.6',
      size: '6',
    });
    assert.equal(taken.status, 'matched', taken.reason);
    const shares = { asset_type: i < 2 ? 'CONDITIONAL' : 'CONDITIONAL-V2', token_id: tokenId };
    assert.equal(await told(owner, shares), '6000000');
    const trades = [];
    for await (const trade of client.orders.trades({ market: market.conditionId }))
      trades.push(trade);
    assert.deepEqual(
      trades.map((trade) => [trade.trader_side, trade.maker_orders[0]!.maker_address]),
      [['MAKER', deposit]],
    );
    const sold = await client.orders.post({ tokenId, side: 'SELL', price: '0.9', size: '7' });
    assert.equal(sold.code, 'NOT_ENOUGH_BALANCE');
    assert.deepEqual((await client.orders.cancel(placed.id)).canceled, [placed.id]);
  }
  assert.equal(await told(owner, {}), String(500e6 - 4 * 6 * 0.4e6));
  assert.equal(await told(owner, { signature_type: 0 }), String(1000e6));
  await until(() => Promise.resolve(events.length >= 16));
  for (const event of events) assert(event.endsWith(deposit), event);
  await until(async () => {
    const held = [];
    for await (const { size } of client.positions()) held.push(size);
    return held.join() === '6,6,6,6';
  });
  stream.close();
  assert.notEqual(wallet.address, deposit);
});

test('shares of a deposit wallet are sold to a bid, and the cash comes to it', async () => {
  const tokenId = first.tokenIds[0]!;
  const before = Number(await told(owner, {}));
  await other.orders.post({ tokenId, side: 'BUY', price: '0.5', size: '5' });
  const sale = { tokenId, side: 'SELL', amount: '5', type: 'FOK' } as const;
  const sold = await owner.client.orders.market(sale);
  assert.equal(sold.status, 'matched', sold.reason);
  assert.equal(await told(owner, {}), String(before + 2.5e6));
  const left = { asset_type: 'CONDITIONAL-V2', token_id: tokenId };
  assert.equal(await told(owner, left), '1000000');
});

test('a wallet of the older kind trades too, and balances are those of the wallet in use', async () => {
  const old = await join(new Wallet(UUPS_KEY), UUPS);
  assert.equal(await told(old, {}), '500000000');
  const terms = { tokenId: first.tokenIds[0]!, side: 'BUY', price: '0.01', size: '5' } as const;
  const placed = await old.client.orders.post(terms);
  assert.equal(placed.status, 'live', `${placed.reason} ${placed.detail}`);
  assert.deepEqual((await old.client.orders.cancelAll()).canceled, [placed.id]);
});

test('silence of the owner cancels the orders of the wallet', async () => {
  const { client } = owner;
  const tokenId = old.tokenIds[0]!;
  const placed = await client.orders.post({ tokenId, side: 'BUY', price: '0.01', size: '5' });
  await client.orders.heartbeat();
  await until(async () => (await client.orders.get(placed.id))?.status === 'CANCELED');
});

test('the third exchange may move everything', async () => {
  const { allowances } = await owner.client.call('GET /balance-allowance', {
    query: { asset_type: 'COLLATERAL' },
  });
  assert.equal(
    allowances['0xe3333700cA9d93003F00f0F71f8515005F6c00Aa'],
    String(Number.MAX_SAFE_INTEGER),
  );
});

type Item = { order: Record<string, unknown>; [member: string]: unknown };

async function signed(): Promise<Item> {
  const tokenId = first!.tokenIds[0]!;
  const order = await owner.client.orders.sign({
    tokenId,
    side: 'BUY',
    price: '0.02',
    size: '5',
  });
  return JSON.parse(order.item) as Item;
}

async function refused(item: Item, client = owner.client) {
  const order: SignedOrder = { id: '', item: JSON.stringify(item) };
  const { code, detail, status } = await client.orders.send(order);
  assert.equal(status, 'refused');
  return { code, detail };
}

test('each malformed part of a signature is named, and the order is not placed', async () => {
  const item = await signed();
  const signature = String(item.order.signature);
  const changed = (from: number, text: string): string => {
    const at = 2 + 2 * from;
    return signature.slice(0, at) + text + signature.slice(at + text.length);
  };
  const cases: readonly (readonly [string, RegExp])[] = [
    [signature.slice(0, 132), /is 0x and 634 hexadecimal digits/],
    [`${signature}${'6492'.repeat(16)}`, /session keys \(they end with 6492\) are not taken/],
    [changed(315, '00bb'), /^bytes 315 and 316 .* 00ba/],
    [changed(129, '00'), /^bytes 129 to 314 .* type of the order/],
    [changed(65, '0000'), /^bytes 65 to 96 .* separator/],
    [changed(97, '0000'), /^bytes 97 to 128 .* hash of the order/],
    [changed(0, '0'.repeat(130)), /r, s or v is out of range/],
    [
      changed(64, signature.slice(130, 132) === '1b' ? '1c' : '1b'),
      /^the signature is of 0x.*, not of 0x/,
    ],
  ];
  for (const [text, rule] of cases) {
    const { code, detail } = await refused({ ...item, order: { ...item.order, signature: text } });
    assert.equal(code, 'INVALID_SIGNATURE');
    assert.match(detail, rule);
  }
  const { negRisk, normal } = signingDomainOf(owner.client.info, 2);
  for (const [domain, text] of [
    [normal, 'domain version 2 of markets that are not neg-risk'],
    [negRisk, 'domain version 2 of neg-risk markets'],
  ] as const) {
    const { tokenId } = item.order;
    const of = signOrder(
      owner.wallet,
      { version: 2, normal: domain, negRisk: domain },
      {
        tokenId: String(tokenId),
        conditionId: '',
        negRisk: false,
        side: 'BUY',
        makerAmount: 100_000,
        takerAmount: 5_000_000,
        type: 'GTC',
        salt: '7',
        owner: String(item.owner),
        depositWallet: owner.deposit,
      },
    );
    const { conditionId: _, ...order } = (JSON.parse(of.item) as Item).order;
    const { detail } = await refused({ ...item, order });
    assert(
      detail.endsWith(`separator of the domain of this order, version 3; they would fit ${text}`),
      detail,
    );
  }
  const ofOther = await refused({ ...item, order: { ...item.order, makerAmount: '150000' } });
  assert.match(ofOther.detail, /hash of the order as sent/);
  const plain = signature.slice(0, 132);
  const type0 = { ...item.order, signatureType: 0, signature: plain };
  assert.equal((await refused({ ...item, order: type0 })).code, 'OWNER_MISMATCH');
});

test('a wallet of another owner is refused, also when its order is known; a session key by name', async () => {
  const item = await signed();
  assert.equal(
    (await owner.client.orders.send({ id: '', item: JSON.stringify(item) })).status,
    'live',
  );
  const thief = await join(Wallet.fromSeed('owner of another deposit wallet'));
  const stolen = {
    ...item,
    owner: (
      JSON.parse(
        (
          await thief.client.orders.sign({
            tokenId: first.tokenIds[0]!,
            side: 'BUY',
            price: '0.02',
            size: '5',
          })
        ).item,
      ) as Item
    ).owner,
  };
  const { code, detail } = await refused(stolen, thief.client);
  assert.equal(code, 'OWNER_MISMATCH');
  assert.match(detail, /are a deposit wallet of the address of the API key/);
  const session = `${String(item.order.signature)}${'6492'.repeat(16)}`;
  const bySession = await refused(
    { ...stolen, order: { ...item.order, signature: session } },
    thief.client,
  );
  assert.equal(bySession.code, 'INVALID_SIGNATURE');
  assert.match(bySession.detail, /session keys/);
  await owner.client.orders.cancelAll();
});

test('nobody places an order for the wallet of another owner, whoever signs it', async () => {
  const thief = await join(Wallet.fromSeed('forger of orders'));
  const terms = { tokenId: first.tokenIds[0]!, side: 'BUY', price: '0.02', size: '5' } as const;
  const own = async (): Promise<Item> =>
    JSON.parse((await thief.client.orders.sign(terms)).item) as Item;
  const taken = await own();
  const domain = signingDomainOf(thief.client.info, 2).position!;
  /** Valid for the maker, if that were the thief's. */
  const forged = async (maker: string, signer: string): Promise<Item> => {
    const item = await own();
    const { makerAmount, salt, takerAmount, timestamp, tokenId } = item.order as Record<
      string,
      string
    >;
    const zero = `0x${'0'.repeat(64)}`;
    const { signature } = thief.wallet.signOrder(domain, {
      salt: salt!,
      maker,
      signer,
      tokenId: tokenId!,
      makerAmount: makerAmount!,
      takerAmount: takerAmount!,
      side: 0,
      signatureType: 3,
      timestamp: timestamp!,
      metadata: zero,
      builder: zero,
    });
    return { ...item, order: { ...item.order, maker, signer, signature } };
  };
  const stolen = await signed();
  const of = owner.deposit;
  const address = thief.wallet.address;
  const items = [
    taken,
    { ...stolen, owner: taken.owner },
    await own(),
    await forged(of, of),
    await forged(of, thief.deposit),
    await forged(thief.deposit, of),
    await forged(of, address),
    await forged(address, of),
    await forged(of, owner.wallet.address),
    await own(),
  ];
  const orders = items.map((item) => ({ id: '', item: JSON.stringify(item) }));
  const answers = await thief.client.orders.sendAll(orders);
  assert.deepEqual(
    answers.map(({ code, status }) => code ?? status),
    [
      ...['live', 'OWNER_MISMATCH', 'live', 'OWNER_MISMATCH', 'INVALID_SIGNATURE'],
      ...['OWNER_MISMATCH', 'INVALID_SIGNATURE', 'OWNER_MISMATCH', 'OWNER_MISMATCH', 'live'],
    ],
  );
  const open = [];
  for await (const { id } of owner.client.orders.open()) open.push(id);
  assert.deepEqual(open, []);
  assert.equal((await thief.client.orders.cancelAll()).canceled.length, 3);
});

const TEXT = 'invalid order signature';
type OrderBody = Routes['POST /orders/explain']['body'];

test('the text of the profile names a session key, with and without codes; no other text changes', async () => {
  const profile = { CLIENT_PROFILE: 'polymarket' };
  const spec = { BEACON_WALLET_FACTORY: BEACON, ORDER_VERSION: '2', LEDGER: 'on' };
  const named = `${TEXT}: signatures of session keys are not taken`;
  for (const [settings, text] of [
    [profile, named],
    [{ ...profile, RESULT_CODES: 'on' }, named],
    [spec, TEXT],
    [{ ...spec, RESULT_CODES: 'on' }, TEXT],
  ] as const) {
    const directory = temporaryDirectory();
    const [market] = await withMarkets(directory, [{ id: 1 }]);
    const { node } = await OperatorNode.start(directory, settings);
    const wallet = Wallet.fromSeed('owner with a session key');
    const { wallet: depositWallet } = depositWalletByEthers(BEACON, wallet.address);
    const base = `http://127.0.0.1:${node.port}`;
    const client = await NodeClient.connect(base, { wallet, depositWallet });
    const session = await NodeClient.connect(base, { wallet: Wallet.fromSeed('session key') });
    const tokenId = market!.tokenIds[0]!;
    const sign = { tokenId, side: 'BUY', price: '0.02', size: '5' } as const;
    const item = JSON.parse((await client.orders.sign(sign)).item) as Item;
    const ofSession = JSON.parse((await session.orders.sign(sign)).item) as Item;
    const ended = `${String(item.order.signature)}${'6492'.repeat(16)}`;
    const broken = String(item.order.signature).replace(/....$/, '0000');
    const explained = [];
    for (const [by, own, signature] of [
      [client, item.owner, ended],
      [session, ofSession.owner, ended],
      [client, item.owner, broken],
    ] as const) {
      const body = { ...item, owner: own, order: { ...item.order, signature } };
      const sent = { id: '', item: JSON.stringify(body) };
      const { code, detail, reason } = await by.orders.send(sent);
      assert.equal(code, 'INVALID_SIGNATURE');
      assert.equal(detail !== '', 'RESULT_CODES' in settings);
      const told = await by.call('POST /orders/explain', { body: body as unknown as OrderBody });
      explained.push([reason, told.errorMsg]);
    }
    assert.deepEqual(explained, [
      [text, text],
      [text, text],
      [TEXT, TEXT],
    ]);
    client.close();
    session.close();
    await node.stop();
  }
});

test('maker and signer are one wallet, and the key of another signer is named', async () => {
  const item = await signed();
  const { address } = owner.wallet;
  const apart = await refused({ ...item, order: { ...item.order, maker: address } });
  assert.match(apart.detail, /maker and signer are one deposit wallet/);
  const ofOwner = await refused({
    ...item,
    order: { ...item.order, maker: address, signer: address },
  });
  assert.match(ofOwner.detail, /maker and signer are a deposit wallet of the address/);
  const { info } = owner.client;
  const domain = signingDomainOf(info, 2).position!;
  const { side, salt, tokenId, makerAmount, takerAmount, timestamp } = item.order as Record<
    string,
    string
  >;
  const zero = `0x${'0'.repeat(64)}`;
  const { signature } = Wallet.fromSeed('somebody').signOrder(domain, {
    salt: salt!,
    tokenId: tokenId!,
    makerAmount: makerAmount!,
    takerAmount: takerAmount!,
    maker: owner.deposit,
    signer: owner.deposit,
    side: side === 'BUY' ? 0 : 1,
    signatureType: 3,
    timestamp: timestamp!,
    metadata: zero,
    builder: zero,
  });
  const foreign = await refused({ ...item, order: { ...item.order, signature } });
  const { address: somebody } = Wallet.fromSeed('somebody');
  assert.equal(
    foreign.detail,
    `the signature is of ${somebody}, not of ${address}, the owner of the wallet`,
  );
});
