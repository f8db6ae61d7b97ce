import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type OrderItem, parseOrders } from '../../server/orders/worker/order-parse.ts';
import { rounds } from '../common/random.ts';

const MAX = 500;
const UINT256_MAX = (2n ** 256n - 1n).toString();

/** A valid item (docs/protocol.md#shape-of-a-request); tests change one member at a time. */
function item(order: Record<string, unknown> = {}, outer: Record<string, unknown> = {}) {
  return {
    order: {
      tokenId: '71321045679252212594626385532706912750332728571942532289631379312455583992563',
      conditionId: '0x5f65177b394277fd294cd75650044e32ba009a95022d88a0c1d565897d72f8f1',
      maker: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      signer: `0x${'ab'.repeat(20)}`,
      taker: `0x${'0'.repeat(40)}`,
      makerAmount: '50000000',
      takerAmount: '100000000',
      side: 'BUY',
      expiration: '0',
      nonce: '7',
      feeRateBps: '200',
      salt: '123456789',
      signatureType: 0,
      signature: `0x${'c0ffee'.repeat(21)}1b1b`,
      ...order,
    },
    orderType: 'GTC',
    owner: '550e8400-e29b-41d4-a716-446655440000',
    ...outer,
  };
}

function without(...path: string[]) {
  const value = item() as Record<string, unknown>;
  const last = path.pop()!;
  let at = value;
  for (const member of path) at = at[member] as Record<string, unknown>;
  delete at[last];
  return value;
}

function parse(value: unknown) {
  return parseOrders(Buffer.from(JSON.stringify(value)), MAX);
}

function one(value: unknown): OrderItem {
  const parsed = parse([value]);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  assert.equal(parsed.items.length, 1);
  return parsed.items[0]!;
}

function assertRefused(value: unknown, detail: string) {
  assert.deepEqual(parse(value), { ok: false, code: 'INVALID_ORDER_PAYLOAD', detail });
}

function hex(bytes: Uint8Array) {
  return Buffer.from(bytes).toString('hex');
}

test('a complete item is read with all its values', () => {
  const { maker, signer, taker, signature, ...rest } = one(item({}, { postOnly: true }));
  assert.equal(hex(maker), 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266');
  assert.equal(hex(signer), 'ab'.repeat(20));
  assert.equal(hex(taker), '0'.repeat(40));
  assert.equal(hex(signature!), `${'c0ffee'.repeat(21)}1b1b`);
  assert.deepEqual(rest, {
    digestable: true,
    tokenId: '71321045679252212594626385532706912750332728571942532289631379312455583992563',
    conditionId: '0x5f65177b394277fd294cd75650044e32ba009a95022d88a0c1d565897d72f8f1',
    makerAmount: '50000000',
    takerAmount: '100000000',
    expiration: '0',
    nonce: '7',
    feeRateBps: '200',
    salt: '123456789',
    side: 0,
    signatureType: 0,
    orderType: 'GTC',
    postOnly: true,
    owner: '550e8400-e29b-41d4-a716-446655440000',
    version2: undefined,
    walletSignature: undefined,
    domain: 1,
  });
});

test('items keep their order and do not share bytes', () => {
  const sent = Array.from({ length: 40 }, (_, i) =>
    item({ salt: String(i), maker: `0x${i.toString(16).padStart(40, '0')}` }),
  );
  const parsed = parse(sent);
  assert.ok(parsed.ok);
  parsed.items.forEach((each, i) => {
    assert.equal(each.salt, String(i));
    assert.equal(hex(each.maker), i.toString(16).padStart(40, '0'));
    assert.equal(hex(each.signature!), `${'c0ffee'.repeat(21)}1b1b`);
  });
});

test('an optional member has a default', () => {
  const bare = one(without('order', 'expiration'));
  assert.equal(bare.expiration, '0');
  assert.equal(bare.postOnly, false);
});

test('unknown members are ignored', () => {
  const extra = item({ metadata: { a: [1] } }, { deferExec: true, fee_bps: 3, toString: 1 });
  assert.deepEqual(one(extra), one(item()));
});

test('a condition id is any text and is read in lower case', () => {
  assert.equal(one(item({ conditionId: '0xABCdef' })).conditionId, '0xabcdef');
  assert.equal(one(item({ conditionId: '' })).conditionId, '');
});

test('every side, order type and signature type is read', () => {
  assert.equal(one(item({ side: 'SELL' })).side, 1);
  for (const orderType of ['GTC', 'GTD', 'FOK', 'FAK']) {
    assert.equal(one(item({}, { orderType })).orderType, orderType);
  }
  for (const signatureType of [0, 1, 2, 3]) {
    assert.equal(one(item({ signatureType })).signatureType, signatureType);
  }
});

test('JSON integers are read by their digits where clients send them', () => {
  for (const member of ['salt', 'nonce', 'feeRateBps', 'expiration'] as const) {
    for (const value of [0, 1, Number.MAX_SAFE_INTEGER]) {
      assert.equal(one(item({ [member]: value }))[member], String(value));
    }
    for (const value of [-1, 1.5, 2 ** 53, 1e21, true, null, [], {}]) {
      const detail = `[0].order.${member} must be a decimal string`;
      assertRefused([item({ [member]: value })], detail);
    }
  }
  for (const member of ['tokenId', 'makerAmount', 'takerAmount']) {
    assertRefused([item({ [member]: 1 })], `[0].order.${member} must be a decimal string`);
  }
});

test('decimal text is canonical and below 2^256', () => {
  const refused = ['', '-', '01', '00', '1.0', '1e3', '0x1', ' 1', '+1', '--1', '-01', '١'];
  refused.push('9'.repeat(78), `${UINT256_MAX}0`, '9'.repeat(500));
  const members = [
    'tokenId',
    'makerAmount',
    'takerAmount',
    'expiration',
    'nonce',
    'feeRateBps',
    'salt',
  ];
  for (const member of members) {
    for (const value of ['0', '1', UINT256_MAX]) {
      assert.equal(one(item({ [member]: value }))[member as 'salt'], value);
    }
    for (const value of refused) {
      assertRefused([item({ [member]: value })], `[0].order.${member} must be a decimal string`);
    }
  }
});

test('amounts and the fee may be negative, which is a fault of the order alone', () => {
  for (const member of ['makerAmount', 'takerAmount', 'feeRateBps'] as const) {
    for (const value of ['-1', '-0', `-${UINT256_MAX}`]) {
      const parsed = one(item({ [member]: value }));
      assert.equal(parsed.digestable, false);
      assert.equal(parsed[member], value);
    }
    assertRefused(
      [item({ [member]: `-${UINT256_MAX}0` })],
      `[0].order.${member} must be a decimal string`,
    );
  }
  for (const member of ['tokenId', 'expiration', 'nonce', 'salt']) {
    assertRefused([item({ [member]: '-1' })], `[0].order.${member} must be a decimal string`);
  }
});

test('an address is 20 bytes of hex in any case', () => {
  for (const member of ['maker', 'signer', 'taker'] as const) {
    const upper = `0x${'AB'.repeat(20)}`;
    assert.equal(hex(one(item({ [member]: upper }))[member]), 'ab'.repeat(20));
    for (const value of [
      '',
      '0x',
      'ab'.repeat(20),
      `0x${'ab'.repeat(19)}`,
      `0x${'ag'.repeat(20)}`,
      5,
    ]) {
      assertRefused(
        [item({ [member]: value })],
        `[0].order.${member} must be a 20-byte hex address`,
      );
    }
  }
});

test('a malformed signature is no fault of shape, but one that is no text is', () => {
  for (const signature of [
    '',
    '0x',
    `0x${'ab'.repeat(64)}`,
    `0x${'ab'.repeat(66)}`,
    `0x${'zz'.repeat(65)}`,
  ]) {
    const parsed = one(item({ signature }));
    assert.equal(parsed.signature, null);
    assert.equal(parsed.digestable, true);
  }
  assertRefused([item({ signature: null })], '[0].order.signature must be a string');
});

test('every member that is required is named when it is missing', () => {
  for (const member of Object.keys(item().order)) {
    if (member === 'expiration') continue;
    assertRefused([without('order', member)], `[0].order.${member} is required`);
  }
  for (const member of ['order', 'orderType', 'owner']) {
    assertRefused([without(member)], `[0].${member} is required`);
  }
});

test('every member of the wrong kind is named with its rule', () => {
  const wrong: [unknown, string][] = [
    [null, '[1] must be an object'],
    [[], '[1] must be an object'],
    ['x', '[1] must be an object'],
    [item({}, { order: null }), '[1].order must be an object'],
    [item({}, { order: [] }), '[1].order must be an object'],
    [item({}, { orderType: 'gtc' }), '[1].orderType must be GTC, GTD, FOK or FAK'],
    [item({}, { orderType: 'IOC' }), '[1].orderType must be GTC, GTD, FOK or FAK'],
    [item({}, { orderType: 1 }), '[1].orderType must be GTC, GTD, FOK or FAK'],
    [item({}, { postOnly: 'true' }), '[1].postOnly must be a boolean'],
    [item({}, { postOnly: null }), '[1].postOnly must be a boolean'],
    [item({}, { owner: 5 }), '[1].owner must be a string'],
    [item({ conditionId: 5 }), '[1].order.conditionId must be a string'],
    [item({ side: 'buy' }), '[1].order.side must be BUY or SELL'],
    [item({ side: 0 }), '[1].order.side must be BUY or SELL'],
    [item({ signatureType: 4 }), '[1].order.signatureType must be an integer from 0 to 3'],
    [item({ signatureType: -1 }), '[1].order.signatureType must be an integer from 0 to 3'],
    [item({ signatureType: 1.5 }), '[1].order.signatureType must be an integer from 0 to 3'],
    [item({ signatureType: '0' }), '[1].order.signatureType must be an integer from 0 to 3'],
  ];
  for (const [value, detail] of wrong) assertRefused([item(), value, item({ salt: -1 })], detail);
});

test('a body that is not a list of orders is refused', () => {
  const refused: [string | Uint8Array, string][] = [
    ['', 'body must be JSON'],
    ['[', 'body must be JSON'],
    ['undefined', 'body must be JSON'],
    [Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), 'body must be JSON'],
    ['['.repeat(200_000), 'the body is nested too deeply or holds too many values'],
    ['null', 'body must be an array'],
    ['{}', 'body must be an array'],
    ['"[]"', 'body must be an array'],
    ['[]', 'body must hold at least one order'],
  ];
  for (const [body, detail] of refused) {
    assert.deepEqual(parseOrders(Buffer.from(body), MAX), {
      ok: false,
      code: 'INVALID_ORDER_PAYLOAD',
      detail,
    });
  }
});

test('a batch over the limit is refused as a whole, with any orders in it', () => {
  assert.ok(parse(Array.from({ length: 500 }, () => item())).ok);
  assert.deepEqual(parse(new Array(501).fill(null)), {
    ok: false,
    code: 'TOO_MANY_ORDERS',
    text: 'Too many orders in payload: 501, max allowed: 500',
  });
});

test('a detail repeats nothing of the body', () => {
  const secret = 'hunter2';
  for (const value of [
    item({ salt: secret }),
    item({ maker: secret }),
    item({ side: secret }),
    item({}, { orderType: secret }),
    item({ [secret]: 1, nonce: false }),
  ]) {
    assert.ok(!JSON.stringify(parse([value])).includes(secret));
  }
});

test('a body in shared memory is read like any other', () => {
  const body = Buffer.from(JSON.stringify([item({}, { owner: 'é' })]));
  const shared = new Uint8Array(new SharedArrayBuffer(body.length + 10)).subarray(5, -5);
  shared.set(body);
  const parsed = parseOrders(shared, MAX);
  assert.ok(parsed.ok);
  assert.equal(parsed.items[0]!.owner, 'é');
});

test('an order of a disabled version fails its request, which names the order, and the other version is read', () => {
  const { feeRateBps: _, nonce: _nonce, taker: _taker, ...rest } = item().order;
  const BYTES32 = `0x${'0'.repeat(63)}7`;
  const signed = { timestamp: 1_790_000_000_000, metadata: BYTES32, builder: BYTES32 };
  const second = { ...item(), order: { ...rest, ...signed } };
  const read = (sent: unknown, orderVersion: '1' | '2' | 'both') =>
    parseOrders(Buffer.from(JSON.stringify(sent)), MAX, {
      resolvesCondition: false,
      orderVersion,
      hasVersion3: false,
    });
  for (const [orderVersion, on, off] of [
    ['1', item(), second],
    ['2', second, item()],
  ] as const) {
    assert(read([on, on], orderVersion).ok);
    const detail = `[1] is not of version ${orderVersion}, see GET /version`;
    assert.deepEqual(read([on, off], orderVersion), {
      ok: false,
      code: 'ORDER_VERSION_MISMATCH',
      detail,
    });
  }
  const both = read([item(), second], 'both');
  assert(both.ok);
  const [one, two] = both.items;
  assert.deepEqual([one!.version2, two!.version2?.timestamp], [undefined, '1790000000000']);
  assert.deepEqual([two!.nonce, two!.feeRateBps, hex(two!.taker)], ['0', '1000', '0'.repeat(40)]);
  for (const [member, value] of Object.entries({ timestamp: -1, metadata: '0x7', builder: null })) {
    const bad = { ...second, order: { ...second.order, [member]: value } };
    const rule = member === 'timestamp' ? 'must be a decimal string' : 'must be 32 bytes in hex';
    const parsed = read([bad], 'both');
    assert(!parsed.ok);
    assert.equal(parsed.detail, `[0].order.${member} ${rule}`);
  }
});

test('no JSON makes the parser throw', () => {
  const member = fc.constantFrom(...Object.keys(item().order));
  fc.assert(
    fc.property(member, fc.jsonValue(), fc.jsonValue(), (name, value, whole) => {
      const inner = parse([item({ [name]: value })]);
      assert.equal(typeof inner.ok, 'boolean');
      for (const body of [whole, [whole], [{ order: whole }]]) {
        const parsed = parse(body);
        assert.ok(!parsed.ok);
        assert.ok(parsed.detail !== undefined && parsed.detail !== '');
        assert.ok(!parsed.detail.includes('undefined'));
      }
    }),
    { numRuns: rounds(500) },
  );
});

test('a position is of version 3 under every ORDER_VERSION, once there is a contract for it', () => {
  const { feeRateBps: _, nonce: _nonce, taker: _taker, ...rest } = item().order;
  const tokenId = String((1n << 248n) | (7n << 128n));
  const zero = `0x${'0'.repeat(64)}`;
  const own = { timestamp: '1', metadata: zero, builder: zero };
  const third = { ...item(), order: { ...rest, ...own, tokenId } };
  const oldFields = { ...item(), order: { ...item().order, tokenId } };
  const read = (sent: unknown, orderVersion: '1' | '2' | 'both', hasVersion3: boolean) =>
    parseOrders(Buffer.from(JSON.stringify([sent])), MAX, {
      resolvesCondition: false,
      orderVersion,
      hasVersion3,
    });
  for (const orderVersion of ['1', '2', 'both'] as const) {
    const parsed = read(third, orderVersion, true);
    assert(parsed.ok, orderVersion);
    assert.equal(parsed.items[0]!.domain, 3);
    assert.deepEqual(read(oldFields, orderVersion, true), {
      ok: false,
      code: 'ORDER_VERSION_MISMATCH',
      detail: '[0] is for a position: sign it in version 3, with the fields of version 2',
    });
  }
  const [second, first] = [read(third, 'both', false), read(oldFields, 'both', false)];
  assert(second.ok && first.ok);
  assert.deepEqual([second.items[0]!.domain, first.items[0]!.domain], [2, 1]);
});
