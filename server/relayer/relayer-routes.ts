/**
 * Routes of the relayer: batches of wallets, their nonces and their state, where RELAYER=on.
 * Rules: docs/protocol.md#relayed-batches
 *
 * Thread: I/O.
 */
import { bodyFault } from '../common/body-fault.ts';
import { errorBody } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { REFUSALS } from '../common/refusals.ts';
import { compileShape } from '../common/schema.ts';
import type { RequestContext } from '../http/http.ts';
import { type RouteSettings, route, SAME } from '../http/route.ts';
import type { Relayer } from './relayer.ts';
import {
  NONCE_QUERY,
  NonceAnswer,
  type NonceQuery,
  ParamsAnswer,
  SUBMIT_BODIES,
  SUBMIT_BOUNDS,
  SubmitAnswer,
  type SubmitBody,
  SubmitShape,
  TRANSACTION_PATH,
  TRANSACTION_QUERY,
  TransactionAnswer,
  type TransactionQuery,
  TransactionsAnswer,
  TypedBody,
} from './relayer-schemas.ts';
import { relayedHash, transactionId } from './transaction-ids.ts';

const served = ({ relayer }: RouteSettings): boolean => relayer;

const SHAPES = Object.fromEntries(
  Object.entries(SUBMIT_BODIES).map(([type, schema]) => [
    type,
    { schema, shape: compileShape(schema) },
  ]),
);
const typedBody = compileShape(TypedBody);
const NOT_FOUND = errorBody('UNKNOWN_TRANSACTION');
const NO_WALLET = errorBody('WALLET_NOT_DEPLOYED', 'no factory of this type is configured');

export const RELAYER_ROUTES = [
  route(
    'POST /submit',
    {
      limits: ['relay', 'trading'],
      body: SubmitShape,
      bodyBounds: SUBMIT_BOUNDS,
      answer: SubmitAnswer,
      conflicts: true,
      writes: true,
      served,
      does: 'a batch of approvals, splits, merges and redemptions, signed by the owner of the wallet, whole or not at all; needs a ledger',
    },
    (relayer: Relayer) => (context) =>
      readJson(context, SUBMIT_BOUNDS, (sent) => submit(relayer, context, sent)),
  ),
  route(
    'GET /nonce',
    {
      query: NONCE_QUERY,
      answer: NonceAnswer,
      served,
      does: 'the nonce of the next batch of a wallet: `address` of the owner, `type`',
    },
    (relayer: Relayer) => nonces(relayer, (_address, nonce) => ({ nonce })),
  ),
  route(
    'GET /relay-payload',
    {
      query: NONCE_QUERY,
      answer: ParamsAnswer,
      served,
      does: 'that nonce, and `address` as asked for',
    },
    (relayer: Relayer) => nonces(relayer, (address, nonce) => ({ address, nonce })),
  ),
  route(
    'GET /v1/account/transactions/params',
    {
      query: NONCE_QUERY,
      answer: ParamsAnswer,
      served,
      repeats: true,
      does: SAME,
    },
    (relayer: Relayer) => nonces(relayer, (address, nonce) => ({ address, nonce })),
  ),
  route(
    'GET /transaction',
    {
      query: TRANSACTION_QUERY,
      answer: TransactionsAnswer,
      served,
      does: 'a batch that was applied, in an array: `id`; an empty one for others',
    },
    (relayer: Relayer) =>
      async (context, { id }: TransactionQuery) => {
        const found = await relayer.transaction(id);
        if (found === undefined) return context.reply(200, '[]');
        const { nonce, wallet } = found;
        const shown = {
          transactionID: transactionId(found),
          transactionHash: relayedHash(found),
          proxyAddress: wallet,
          nonce: nonce === undefined ? '' : String(nonce),
          state: 'STATE_CONFIRMED',
        };
        context.reply(200, JSON.stringify([shown]));
      },
  ),
  route(
    'GET /v1/account/transactions/:id',
    {
      query: TRANSACTION_PATH,
      answer: TransactionAnswer,
      served,
      repeats: true,
      does: 'the same as an object; a 404 for others',
    },
    (relayer: Relayer) =>
      async (context, { id }: TransactionQuery) => {
        const found = await relayer.transaction(id);
        if (found === undefined) {
          return context.reply(REFUSALS.UNKNOWN_TRANSACTION.status, NOT_FOUND);
        }
        const shown = {
          transaction_id: transactionId(found),
          transaction_hash: relayedHash(found),
          state: 'STATE_CONFIRMED',
          error_msg: '',
        };
        context.reply(200, JSON.stringify(shown));
      },
  ),
];

async function submit(relayer: Relayer, context: RequestContext, sent: unknown): Promise<void> {
  if (!typedBody.matches(sent)) {
    return context.reply(400, bodyFault(TypedBody, typedBody.fault(sent)));
  }
  const known = Object.hasOwn(SHAPES, sent.type) ? SHAPES[sent.type] : undefined;
  if (known === undefined) {
    return context.reply(400, bodyFault(TypedBody, { path: ['type'], missing: false }));
  }
  const { schema, shape } = known;
  if (!shape.matches(sent)) return context.reply(400, bodyFault(schema, shape.fault(sent)));
  context.reply(...(await relayer.submit(sent as SubmitBody)));
}

function nonces(relayer: Relayer, answer: (address: string, nonce: string) => object) {
  return async (context: RequestContext, { address, type }: NonceQuery): Promise<void> => {
    const nonce = await relayer.nonceOf(type, address);
    if (nonce === undefined) {
      return context.reply(REFUSALS.WALLET_NOT_DEPLOYED.status, NO_WALLET);
    }
    context.reply(200, JSON.stringify(answer(address, nonce)));
  };
}
