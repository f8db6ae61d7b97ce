/** Inputs and answers of the operations. */
import { type TProperties, Type } from '../common/schema.ts';
import { nameSchema } from '../common/text-schemas.ts';

export const Wallet = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'a wallet address, 0x and 40 hexadecimal digits',
});
/** Pattern of a wallet in an input; named-inputs.ts replaces a name by the address. */
export const WALLET_REF = '^(?:0x[0-9a-fA-F]{40}|(?!0[xX]).{1,64})$';
export const WalletRef = Type.String({
  pattern: WALLET_REF,
  description:
    'a wallet: its address, 0x and 40 hexadecimal digits, or the name that an operator gave to it',
});
const KeyId = Type.String({
  pattern: '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  description: 'a key as the list of keys names it',
});
const Nonce = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,77})$',
  description: 'a whole number below 2^256, as text',
});

/** Schema of an input without further members: a mistyped name must not get the default in its place. */
export function inputOf<Members extends TProperties>(members: Members) {
  return Type.Object(members, { additionalProperties: false });
}

/** Bound of the rows in an answer. */
export function limitOf(maximum: number, usual: number) {
  const description = `a whole number from 1 to ${maximum}`;
  return Type.Optional(Type.Integer({ minimum: 1, maximum, default: usual, description }));
}

export const NoInput = inputOf({});

export const KeysInput = inputOf({
  wallet: Type.Optional(WalletRef),
  after: Type.Optional(KeyId),
  limit: limitOf(10_000, 1_000),
});
const Key = Type.Object({
  key: Type.String(),
  wallet: Wallet,
  kind: Type.Union([Type.Literal('api'), Type.Literal('read-only')]),
  nonce: Type.String(),
  state: Type.Union([Type.Literal('active'), Type.Literal('banned'), Type.Literal('revoked')], {
    description: 'banned: its wallet is, and it works again when the ban is lifted',
  }),
});
export const KeysAnswer = Type.Object({
  keys: Type.Array(Key),
  more: Type.Boolean({ description: 'there are further ones `after` the last' }),
});
export const IssueInput = inputOf({ wallet: WalletRef, nonce: Type.Optional(Nonce) });
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

const Reason = nameSchema(200, 'a text', 0);
const Changed = Type.Boolean({ description: 'false: it was so before' });

export const OrdersInput = inputOf({
  wallet: WalletRef,
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
  wallet: WalletRef,
  id: Type.Optional(
    Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'the id of an order' }),
  ),
});
export const CanceledAnswer = Type.Object({ canceled: Type.Integer() });

export const BansAnswer = Type.Object({
  bans: Type.Array(
    Type.Object({
      wallet: Wallet,
      name: Type.String({ description: 'that an operator gave to the wallet; "" = none' }),
      since: Type.String(),
      reason: Type.String(),
    }),
  ),
});
export const BanInput = inputOf({ wallet: WalletRef, reason: Type.Optional(Reason) });
export const BannedAnswer = Type.Object({
  wallet: Wallet,
  changed: Changed,
  canceled: Type.Integer({ description: 'open orders that ended' }),
});
export const LiftInput = inputOf({ wallet: WalletRef });
export const LiftedAnswer = Type.Object({ wallet: Wallet, changed: Changed });

const Name = Type.String({ description: 'that an operator gave to the wallet; "" = none' });
export const NameInput = inputOf({
  wallet: WalletRef,
  name: Type.Optional({
    ...nameSchema(64, 'a name'),
    pattern: '^(?!0[xX])',
    description: `${nameSchema(64, 'a name').description}, which does not begin with 0x; absent: it has none any more`,
  }),
});
export const NamedAnswer = Type.Object({ wallet: Wallet, name: Name, changed: Changed });

const Amount = Type.String({ description: 'collateral, a decimal with at most six decimals' });
export const WalletsInput = inputOf({
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'part of an address or of a name' }),
  ),
  funded: Type.Optional(Type.Boolean({ description: 'true: wallets with cash or shares alone' })),
  banned: Type.Optional(Type.Boolean({ description: 'true: banned wallets alone' })),
  after: Type.Optional(
    Type.Integer({ minimum: 0, description: '`next` of the page before, a whole number from 0' }),
  ),
  limit: limitOf(1_000, 100),
});
export const WalletsAnswer = Type.Object({
  wallets: Type.Array(
    Type.Object({
      wallet: Wallet,
      name: Name,
      banned: Type.Boolean(),
      open_orders: Type.Integer({ description: 'that it has signed' }),
      cash: Type.Optional(Type.Object({ total: Amount, reserved: Amount, free: Amount })),
      positions: Type.Optional(
        Type.Integer({ description: 'tokens of which it has shares, or buys some' }),
      ),
    }),
    { description: 'oldest first; with a ledger with cash and positions' },
  ),
  next: Type.Union([Type.Integer(), Type.Null()], {
    description: 'for `after`: a page may be short and have further ones; null = there are none',
  }),
});

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
