/** Inputs and answers of the operations. */
import { type TProperties, Type } from '../common/schema.ts';

export const Wallet = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'a wallet address, 0x and 40 hexadecimal digits',
});
const KeyId = Type.String({
  pattern: '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  description: 'a key as the list of keys names it',
});
const Nonce = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,77})$',
  description: 'a whole number below 2^256, as text',
});

/** An operator who mistypes a name must not get the default in its place. */
export function inputOf<Members extends TProperties>(members: Members) {
  return Type.Object(members, { additionalProperties: false });
}

/** How many rows are wanted. */
export function limitOf(maximum: number, usual: number) {
  const description = `a whole number from 1 to ${maximum}`;
  return Type.Optional(Type.Integer({ minimum: 1, maximum, default: usual, description }));
}

export const NoInput = inputOf({});

export const KeysInput = inputOf({
  wallet: Type.Optional(Wallet),
  after: Type.Optional(KeyId),
  limit: limitOf(10_000, 1_000),
});
const Key = Type.Object({
  key: Type.String(),
  wallet: Wallet,
  kind: Type.Union([Type.Literal('api'), Type.Literal('read-only')]),
  nonce: Type.String(),
  state: Type.Union([Type.Literal('active'), Type.Literal('revoked')]),
});
export const KeysAnswer = Type.Object({
  keys: Type.Array(Key),
  more: Type.Boolean({ description: 'there are further ones `after` the last' }),
});
export const IssueInput = inputOf({ wallet: Wallet, nonce: Type.Optional(Nonce) });
export const IssuedAnswer = Type.Object({
  wallet: Wallet,
  nonce: Type.String(),
  apiKey: Type.String(),
  secret: Type.String(),
  passphrase: Type.String(),
});
export const RevokeInput = inputOf({ key: KeyId });
export const RevokedAnswer = Type.Object({
  key: Type.String(),
  wallet: Wallet,
  changed: Type.Boolean({ description: 'false: it was revoked before' }),
});

const Reason = Type.String({ maxLength: 200, description: 'a text of at most 200 characters' });
const Changed = Type.Boolean({ description: 'false: it was so before' });

export const OrdersInput = inputOf({
  wallet: Wallet,
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: 'a whole number from 0' }),
  ),
  limit: limitOf(1_000, 100),
});
const Order = Type.Object({
  id: Type.String(),
  signer: Wallet,
  maker_address: Wallet,
  api_key: Type.String(),
  market: Type.String(),
  asset_id: Type.String(),
  outcome: Type.String(),
  side: Type.String(),
  price: Type.String(),
  original_size: Type.String(),
  size_matched: Type.String(),
  order_type: Type.String(),
  expiration: Type.String(),
  created_at: Type.Integer({ description: 'unix seconds' }),
});
export const OrdersAnswer = Type.Object({ total: Type.Integer(), orders: Type.Array(Order) });
export const CancelInput = inputOf({
  wallet: Wallet,
  id: Type.Optional(
    Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'the id of an order' }),
  ),
});
export const CanceledAnswer = Type.Object({ canceled: Type.Integer() });

export const BansAnswer = Type.Object({
  bans: Type.Array(Type.Object({ wallet: Wallet, since: Type.String(), reason: Type.String() })),
});
export const BanInput = inputOf({ wallet: Wallet, reason: Type.Optional(Reason) });
export const BannedAnswer = Type.Object({
  wallet: Wallet,
  changed: Changed,
  canceled: Type.Integer({ description: 'open orders that ended' }),
});
export const LiftInput = inputOf({ wallet: Wallet });
export const LiftedAnswer = Type.Object({ wallet: Wallet, changed: Changed });

export const PauseInput = inputOf({ reason: Type.Optional(Reason) });
export const PauseAnswer = Type.Object({
  paused: Type.Boolean(),
  since: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
});
export const PausedAnswer = Type.Object({ paused: Type.Boolean(), changed: Changed });

export const LimitInput = inputOf({
  name: Type.String({ description: 'the name of a rate limit' }),
  limit: Type.String({ description: 'requests/seconds such as 400/10, or off' }),
});
export const LimitsAnswer = Type.Object({
  limits: Type.Array(
    Type.Object({ name: Type.String(), covers: Type.String(), limit: Type.String() }),
  ),
  setting: Type.String({ description: 'the setting that keeps them over a restart' }),
});

export const AuditInput = inputOf({
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: 'the id of an entry: those before it' }),
  ),
  limit: limitOf(1_000, 100),
});
export const AuditAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      id: Type.Integer(),
      time: Type.String({ description: 'ISO 8601' }),
      actor: Type.String({ description: 'the name that the caller gave, and its address' }),
      route: Type.String(),
      body: Type.Unknown(),
      status: Type.Optional(
        Type.Integer({ description: 'of the answer; absent while it is under way, or never came' }),
      ),
      error: Type.Optional(Type.String()),
    }),
  ),
});
