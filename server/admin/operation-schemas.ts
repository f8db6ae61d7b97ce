/** Inputs and answers of the operations. */
import { type TProperties, Type } from '../common/schema.ts';
import { nameSchema } from '../common/text-schemas.ts';
import { flag, oneOf, text, whole } from '../routes/shorthand.ts';

export const Wallet = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'a wallet address, 0x and 40 hexadecimal digits',
});
/** Pattern of a wallet in an input; named-inputs.ts replaces a name by the address. */
export const WALLET_REF = '^(?:0x[0-9a-fA-F]{40}|(?!0[xX]).{1,64})$';
export const WalletRef = text(
  'a wallet: its address, 0x and 40 hexadecimal digits, or the name that an operator gave to it',
  { pattern: WALLET_REF },
);
export const KeyId = Type.String({
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

export function limitOf(maximum: number, usual: number) {
  const description = `a whole number from 1 to ${maximum}`;
  return Type.Optional(whole(description, { minimum: 1, maximum, default: usual }));
}

export const NoInput = inputOf({});

export const KeysInput = inputOf({
  wallet: Type.Optional(WalletRef),
  after: Type.Optional(KeyId),
  limit: limitOf(10_000, 1_000),
});
const Key = Type.Object({
  key: text(),
  wallet: Wallet,
  kind: oneOf(['api', 'read-only']),
  nonce: text(),
  state: oneOf(
    ['active', 'banned', 'revoked'],
    'banned: its wallet is, and it works again when the ban is lifted',
  ),
});
export const KeysAnswer = Type.Object({
  keys: Type.Array(Key),
  more: flag('there are further ones `after` the last'),
});
export const IssueInput = inputOf({ wallet: WalletRef, nonce: Type.Optional(Nonce) });
export const IssuedAnswer = Type.Object({
  wallet: Wallet,
  nonce: text(),
  apiKey: text(),
  secret: text(),
  passphrase: text(),
});
export const RevokeInput = inputOf({ key: KeyId });
export const RevokedAnswer = Type.Object({
  key: text(),
  wallet: Wallet,
  changed: flag('false: it was revoked before'),
});

const Reason = nameSchema(200, 'a text', 0);
const Changed = flag('false: it was so before');

export const OrdersInput = inputOf({
  wallet: WalletRef,
  offset: Type.Optional(whole('a whole number from 0', { minimum: 0, default: 0 })),
  limit: limitOf(1_000, 100),
});
const Order = Type.Object({
  id: text(),
  signer: Wallet,
  maker_address: Wallet,
  api_key: text(),
  market: text(),
  asset_id: text(),
  outcome: text(),
  side: text(),
  price: text(),
  original_size: text(),
  size_matched: text(),
  order_type: text(),
  expiration: text(),
  created_at: whole('unix seconds'),
});
export const OrdersAnswer = Type.Object({ total: whole(), orders: Type.Array(Order) });
export const CancelInput = inputOf({
  wallet: WalletRef,
  id: Type.Optional(
    Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'the id of an order' }),
  ),
});
export const CanceledAnswer = Type.Object({ canceled: whole() });

export const BansAnswer = Type.Object({
  bans: Type.Array(
    Type.Object({
      wallet: Wallet,
      name: text('that an operator gave to the wallet; "" = none'),
      since: text(),
      reason: text(),
    }),
  ),
});
export const BanInput = inputOf({ wallet: WalletRef, reason: Type.Optional(Reason) });
export const BannedAnswer = Type.Object({
  wallet: Wallet,
  changed: Changed,
  canceled: whole('open orders that ended'),
});
export const LiftInput = inputOf({ wallet: WalletRef });
export const LiftedAnswer = Type.Object({ wallet: Wallet, changed: Changed });

const Name = text('that an operator gave to the wallet; "" = none');
export const NameInput = inputOf({
  wallet: WalletRef,
  name: Type.Optional({
    ...nameSchema(64, 'a name'),
    pattern: '^(?!0[xX])',
    description: `${nameSchema(64, 'a name').description}, which does not begin with 0x; absent: it has none any more`,
  }),
});
export const NamedAnswer = Type.Object({ wallet: Wallet, name: Name, changed: Changed });

const Amount = text('collateral, a decimal with at most six decimals');
export const WalletsInput = inputOf({
  search: Type.Optional(text('part of an address or of a name', { minLength: 1, maxLength: 64 })),
  funded: Type.Optional(flag('true: wallets with cash or shares alone')),
  banned: Type.Optional(flag('true: banned wallets alone')),
  after: Type.Optional(whole('`next` of the page before, a whole number from 0', { minimum: 0 })),
  limit: limitOf(1_000, 100),
});
export const WalletsAnswer = Type.Object({
  wallets: Type.Array(
    Type.Object({
      wallet: Wallet,
      name: Name,
      banned: flag(),
      open_orders: whole('that it has signed'),
      cash: Type.Optional(Type.Object({ total: Amount, reserved: Amount, free: Amount })),
      positions: Type.Optional(whole('tokens of which it has shares, or buys some')),
    }),
    { description: 'oldest first; with a ledger with cash and positions' },
  ),
  next: Type.Union([whole(), Type.Null()], {
    description: 'for `after`: a page may be short and have further ones; null = there are none',
  }),
});

export const PauseInput = inputOf({ reason: Type.Optional(Reason) });
export const PauseAnswer = Type.Object({
  paused: flag(),
  since: Type.Optional(text()),
  reason: Type.Optional(text()),
});
export const PausedAnswer = Type.Object({ paused: flag(), changed: Changed });

export const MessageInput = inputOf({ text: Type.Optional(nameSchema(280)) });
export const MessageAnswer = Type.Object({
  text: text('"" = there is none'),
  since: Type.Optional(text('ISO 8601')),
});
export const SaidAnswer = Type.Object({ text: text('"" = there is none'), changed: Changed });

export const LimitInput = inputOf({
  name: text('the name of a rate limit'),
  limit: text('requests/seconds such as 400/10, or off'),
});
export const LimitsAnswer = Type.Object({
  limits: Type.Array(Type.Object({ name: text(), covers: text(), limit: text() })),
  setting: text('the setting that keeps them over a restart'),
});

const Role = oneOf(['operator', 'resolver']);
export const RoleAnswer = Type.Object({
  role: Role,
  operations: Type.Array(text('such as `GET /admin/role`')),
});

export const AuditInput = inputOf({
  before: Type.Optional(whole('the id of an entry: those before it', { minimum: 1 })),
  limit: limitOf(1_000, 100),
});
export const AuditAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      id: whole(),
      time: text('ISO 8601'),
      actor: text('the name that the caller gave, and its address'),
      role: Type.Optional({ ...Role, description: 'absent in entries of older versions' }),
      route: text(),
      body: Type.Unknown(),
      status: Type.Optional(whole('of the answer; absent while it is under way, or never came')),
      error: Type.Optional(text()),
    }),
  ),
});
