/**
 * Which schema package checks an order: `@sinclair/typebox`, in use (server/common/schema.ts), against its
 * successor `typebox` 1.x, which is here for this comparison only. Both compile their schemas;
 * compiling is not measured, because it happens once, nor is what it takes to load the packages.
 */
import { Type as NewType } from 'typebox';
import { Compile } from 'typebox/compile';
import { compileShape, Type } from '../../server/common/schema.ts';
import { parseOrders } from '../../server/orders/worker/order-parse.ts';
import { type Measured, measure } from '../harness.ts';
import { Random } from '../random.ts';

const BATCH = 15;

/** The one schema, built by either package: their builders have the same names. */
function orderSchema(T: typeof Type) {
  const count = T.Union([T.String(), T.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })]);
  const text = T.String();
  return T.Object({
    order: T.Object({
      tokenId: text,
      conditionId: text,
      maker: text,
      signer: text,
      taker: text,
      makerAmount: text,
      takerAmount: text,
      side: T.Union([T.Literal('BUY'), T.Literal('SELL')]),
      expiration: T.Optional(count),
      nonce: count,
      feeRateBps: count,
      salt: count,
      signatureType: T.Integer({ minimum: 0, maximum: 3 }),
      signature: text,
    }),
    orderType: T.Union(['GTC', 'GTD', 'FOK', 'FAK'].map((name) => T.Literal(name))),
    postOnly: T.Optional(T.Boolean()),
    owner: text,
  });
}

function hex(random: Random, bytes: number): string {
  let text = '0x';
  for (let i = 0; i < bytes; i++) text += random.below(256).toString(16).padStart(2, '0');
  return text;
}

function batch(random: Random): unknown[] {
  return Array.from({ length: BATCH }, () => {
    const maker = hex(random, 20);
    return {
      order: {
        tokenId: BigInt(hex(random, 31)).toString(),
        conditionId: hex(random, 32),
        maker,
        signer: maker,
        taker: `0x${'0'.repeat(40)}`,
        makerAmount: '50000000',
        takerAmount: '100000000',
        side: 'BUY',
        expiration: '0',
        nonce: '0',
        feeRateBps: '0',
        salt: String(random.next()),
        signatureType: 0,
        signature: hex(random, 65),
      },
      orderType: 'GTC',
      owner: '550e8400-e29b-41d4-a716-446655440000',
    };
  });
}

function expectAll(good: number, rounds: number): void {
  if (good !== rounds * BATCH) throw new Error('every order has the right shape');
}

/** Rates of the check alone, and of the whole parser around it, in orders. */
export async function validateSuite(rounds: number, blocks: number): Promise<Measured[]> {
  const random = new Random('validate');
  const items = batch(random);
  const body = Buffer.from(JSON.stringify(items));
  const current = compileShape(orderSchema(Type));
  const successor = Compile(orderSchema(NewType as unknown as typeof Type) as never);
  // A loop each: one that served both would be compiled for neither.
  const runCurrent = (): void => {
    let good = 0;
    for (let i = 0; i < rounds; i++) for (const item of items) if (current.matches(item)) good += 1;
    expectAll(good, rounds);
  };
  const runSuccessor = (): void => {
    let good = 0;
    for (let i = 0; i < rounds; i++) {
      for (const item of items) if (successor.Check(item)) good += 1;
    }
    expectAll(good, rounds);
  };
  const messages = rounds * BATCH;
  return measure(
    [
      {
        name: '@sinclair/typebox, shape of an order',
        messages,
        run: runCurrent,
      },
      {
        name: 'typebox 1.x, shape of an order',
        messages,
        run: runSuccessor,
      },
      {
        name: 'whole parser, bytes to values, batch of 15',
        messages,
        run: () => {
          for (let i = 0; i < rounds; i++) {
            if (!parseOrders(body, BATCH).ok) throw new Error('the batch is well-formed');
          }
        },
      },
    ],
    blocks,
  );
}
