/** Requests and answers of the relayer. Rules: docs/protocol.md#relayed-batches */
import { RELAY_CALLS_MAX } from '../../engine/commands.ts';
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { type Static, type TObject, type TSchema, Type } from '../common/schema.ts';

/** Hex digits of the data of one call, and of a transaction of several. */
const CALL_DIGITS_MAX = 2_048;
const DATA_DIGITS_MAX = 32_768;
const METADATA_MAX = 500;
const ID_MAX = 128;

const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'an address, 0x and 40 hexadecimal digits',
});
const Number256 = Type.String({
  pattern: '^(?:0|[1-9]\\d{0,76})$',
  description: 'a whole number as text',
});
const Nothing = Type.Literal('0', { description: '"0"' });
const Signature = Type.String({
  pattern: '^0x(?:[0-9a-fA-F]{2})*$',
  maxLength: 2_048,
  description: 'a signature, 0x and 130 hexadecimal digits',
});
const Metadata = Type.Optional(
  Type.String({
    maxLength: METADATA_MAX,
    description: `a text of at most ${METADATA_MAX} characters`,
  }),
);

function bytes(digits: number) {
  return Type.String({
    pattern: '^0x(?:[0-9a-fA-F]{2})*$',
    maxLength: 2 + digits,
    description: `0x and pairs of hexadecimal digits, at most ${digits}`,
  });
}

export const WALLET_TYPES = ['WALLET', 'SAFE', 'PROXY'] as const;
export type WalletType = (typeof WALLET_TYPES)[number];

const creation = {
  from: Address,
  to: Address,
  metadata: Metadata,
};
const signed = {
  ...creation,
  nonce: Number256,
  signature: Signature,
};
const transaction = {
  ...signed,
  proxyWallet: Address,
  data: bytes(DATA_DIGITS_MAX),
};

const WalletCreation = Type.Object({ type: Type.Literal('WALLET-CREATE'), ...creation });
const SafeCreation = Type.Object({ type: Type.Literal('SAFE-CREATE'), ...creation });
const WalletBatch = Type.Object({
  type: Type.Literal('WALLET'),
  ...signed,
  depositWalletParams: Type.Object(
    {
      depositWallet: Address,
      deadline: Number256,
      calls: Type.Array(
        Type.Object({ target: Address, value: Nothing, data: bytes(CALL_DIGITS_MAX) }),
        { minItems: 1, maxItems: RELAY_CALLS_MAX },
      ),
    },
    {
      description: `depositWallet, deadline in unix seconds, and 1 to ${RELAY_CALLS_MAX} calls of target, value "0" and data of at most ${CALL_DIGITS_MAX} hexadecimal digits`,
    },
  ),
});
const NoGas = Type.Object(
  {
    operation: Type.Union([Type.Literal('0'), Type.Literal('1')]),
    safeTxnGas: Nothing,
    baseGas: Nothing,
    gasPrice: Nothing,
    gasToken: Address,
    refundReceiver: Address,
  },
  { description: 'operation 0 or 1, and no gas: "0", and the zero address' },
);
const SafeBatch = Type.Object({
  type: Type.Literal('SAFE'),
  ...transaction,
  value: Type.Optional(Nothing),
  signatureParams: NoGas,
});
const ProxyBatch = Type.Object({
  type: Type.Literal('PROXY'),
  ...transaction,
  signatureParams: Type.Object(
    {
      gasPrice: Number256,
      gasLimit: Number256,
      relayerFee: Number256,
      relayHub: Address,
      relay: Address,
    },
    { description: 'gasPrice, gasLimit and relayerFee as text, relayHub and relay' },
  ),
});

export type WalletBatchBody = Static<typeof WalletBatch>;
export type SafeBatchBody = Static<typeof SafeBatch>;
export type ProxyBatchBody = Static<typeof ProxyBatch>;
export type CreationBody = Static<typeof WalletCreation> | Static<typeof SafeCreation>;
export type SubmitBody = CreationBody | WalletBatchBody | SafeBatchBody | ProxyBatchBody;

/** Shapes of bodies by their type. */
export const SUBMIT_BODIES: Readonly<Record<SubmitBody['type'], TObject>> = {
  'WALLET-CREATE': WalletCreation,
  WALLET: WalletBatch,
  'SAFE-CREATE': SafeCreation,
  SAFE: SafeBatch,
  PROXY: ProxyBatch,
};

/** In place of a body whose type is none of the above. */
export const TypedBody = Type.Object({
  type: Type.String({ description: `one of ${Object.keys(SUBMIT_BODIES).join(', ')}` }),
});

export const SubmitShape: TSchema = Type.Union(Object.values(SUBMIT_BODIES));
export const SUBMIT_BOUNDS = boundsOf(RELAY_CALLS_MAX);

const Hash = Type.String({ pattern: '^0x[0-9a-f]{64}$' });
const Confirmed = Type.Literal('STATE_CONFIRMED');

export const SubmitAnswer = Type.Object({
  transactionID: Type.String(),
  transactionHash: Hash,
  state: Type.Literal('STATE_NEW'),
});

const TypeParameter = Type.Union(
  WALLET_TYPES.map((type) => Type.Literal(type)),
  { description: WALLET_TYPES.join(' or ') },
);
const OfSigner = Type.Object({
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'address of the owner' }),
  type: TypeParameter,
});
export const NONCE_QUERY = compileQuery(OfSigner);
export type NonceQuery = Static<typeof OfSigner>;
export const NonceAnswer = Type.Object({ nonce: Type.String() });
export const ParamsAnswer = Type.Object({ address: Address, nonce: Type.String() });

const ById = Type.Object({
  id: Type.String({ minLength: 1, maxLength: ID_MAX, description: 'id of a transaction' }),
});
export const TRANSACTION_QUERY = compileQuery(ById);
export const TRANSACTION_PATH = compileQuery(ById, ['id']);
export type TransactionQuery = Static<typeof ById>;

export const TransactionAnswer = Type.Object({
  transaction_id: Type.String(),
  transaction_hash: Hash,
  state: Confirmed,
  error_msg: Type.String({ description: 'empty: a batch that fails is refused at once' }),
});
export const TransactionsAnswer = Type.Array(
  Type.Object({
    transactionID: Type.String(),
    transactionHash: Hash,
    proxyAddress: Address,
    nonce: Type.String({ description: 'empty for the creation of a wallet' }),
    state: Confirmed,
  }),
);
