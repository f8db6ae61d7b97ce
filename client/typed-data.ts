/**
 * EIP-712 digests of what a wallet signs: orders of all versions, those of deposit wallets, and the level-1
 * request that issues API keys. A struct is written as hex text, which is short code and costs a tenth of the
 * signature. Pure. Non-goals: other typed data.
 */
import { bytesOfHex, bytesOfText, keccak256, toHex } from './hashes.ts';

export interface OrderDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
}

/** The fields that orders of all versions sign; amounts in millionths, numbers as decimal text. */
interface CommonFields {
  readonly salt: string;
  readonly maker: string;
  readonly signer: string;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  /** 0 = BUY, 1 = SELL. */
  readonly side: 0 | 1;
  readonly signatureType: number;
}

export interface UnsignedOrder extends CommonFields {
  readonly taker: string;
  readonly expiration: string;
  readonly nonce: string;
  readonly feeRateBps: string;
}

/** The eleven signed fields of versions 2 and 3: 0x + 64 hex digits for the last two. */
export interface UnsignedOrder2 extends CommonFields {
  /** Usually unix milliseconds. */
  readonly timestamp: string;
  readonly metadata: string;
  readonly builder: string;
}

/** Signature type of an order of a deposit wallet. */
export const DEPOSIT_WALLET = 3;
const WORD_DIGITS = 64;
const AUTH_MESSAGE = 'This message attests that I control the given wallet';

type Value = string | number | object;

/** A type of typed data: its text tells how its values are written. */
class Structure {
  readonly text: string;
  readonly name: string;
  readonly #hash: string;
  readonly #members: readonly (readonly [type: string, name: string])[];
  readonly #inner: Structure | undefined;

  /** @param inner the type that a member has */
  constructor(text: string, inner?: Structure) {
    const at = text.indexOf('(');
    this.text = text;
    this.name = text.slice(0, at);
    this.#hash = hashText(text + (inner?.text ?? ''));
    this.#inner = inner;
    this.#members = text
      .slice(at + 1, -1)
      .split(',')
      .map((member) => member.split(' ') as [string, string]);
  }

  /** Returns the hash of values by name, which may have more members, as hex digits. */
  of(values: object): string {
    const named = values as Readonly<Record<string, Value>>;
    const words = this.#members.map(([type, name]) => WRITERS[type]!(named[name]!));
    return toHex(keccak256(bytesOfHex(this.#hash + words.join(''))));
  }

  /** Members by the name of their type, in the form of `eth_signTypedData_v4`. */
  types(): Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>> {
    const members = this.#members.map(([type, name]) => ({ name, type }));
    return { [this.name]: members, ...this.#inner?.types() };
  }

  /** Values by name, without others. */
  only(values: object): object {
    const named = values as Readonly<Record<string, Value>>;
    return Object.fromEntries(
      this.#members.map(([type, name]) => {
        const value = named[name]!;
        return [name, type === this.#inner?.name ? this.#inner.only(value as object) : value];
      }),
    );
  }
}

const digits = (value: Value): string =>
  BigInt(value as string | number)
    .toString(16)
    .padStart(WORD_DIGITS, '0');

/** Words of values by type. */
const WRITERS: Readonly<Record<string, (value: Value) => string>> = {
  uint256: digits,
  uint8: digits,
  address: (value) => hex(value).padStart(WORD_DIGITS, '0'),
  bytes32: hex,
  string: (value) => hashText(String(value)),
  Order: (value) => ORDER_2.of(value as object),
};

const ORDER = new Structure(
  'Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,' +
    'uint256 makerAmount,uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,' +
    'uint8 side,uint8 signatureType)',
);
const ORDER_2 = new Structure(
  'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,' +
    'uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,' +
    'bytes32 builder)',
);
const WALLET_ORDER = new Structure(
  'TypedDataSign(Order contents,string name,string version,uint256 chainId,' +
    'address verifyingContract,bytes32 salt)',
  ORDER_2,
);
const AUTH = new Structure(
  'ClobAuth(address address,string timestamp,uint256 nonce,string message)',
);
const AUTH_DOMAIN = new Structure('EIP712Domain(string name,string version,uint256 chainId)');
const DOMAIN = new Structure(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const WALLET_DOMAIN = {
  name: 'DepositWallet',
  version: '1',
  salt: `0x${'0'.repeat(WORD_DIGITS)}`,
};

/** Separators by domain object: a program has few domains and many orders. */
const separators = new WeakMap<OrderDomain, string>();

/** EIP-712 typed data; its JSON text is a parameter of `eth_signTypedData_v4`. */
export class TypedData {
  /** 32 bytes. */
  readonly digest: Uint8Array;
  readonly #domain: { readonly type: Structure; readonly values: object };
  readonly #type: Structure;
  readonly #message: object;

  constructor(
    domain: { readonly type: Structure; readonly values: object },
    separator: string,
    type: Structure,
    message: object,
  ) {
    this.digest = keccak256(bytesOfHex(`1901${separator}${type.of(message)}`));
    this.#domain = domain;
    this.#type = type;
    this.#message = message;
  }

  toJSON(): object {
    const { type, values } = this.#domain;
    return {
      types: { ...type.types(), ...this.#type.types() },
      primaryType: this.#type.name,
      domain: type.only(values),
      message: this.#type.only(this.#message),
    };
  }
}

/** An order to sign. */
export interface OrderData {
  /** Id of the order: 0x + 64 hex digits. */
  readonly id: string;
  readonly data: TypedData;
  /** Hex digits behind the signature; '' but for a deposit wallet. */
  readonly tail: string;
}

export function orderData(domain: OrderDomain, order: UnsignedOrder | UnsignedOrder2): OrderData {
  const type = 'timestamp' in order ? ORDER_2 : ORDER;
  const of = { type: DOMAIN, values: domain };
  const separator = separatorOf(domain);
  const plain = new TypedData(of, separator, type, order);
  const id = `0x${toHex(plain.digest)}`;
  if (order.signatureType !== DEPOSIT_WALLET || type === ORDER) {
    return { id, data: plain, tail: '' };
  }
  const { chainId } = domain;
  const message = { ...WALLET_DOMAIN, contents: order, chainId, verifyingContract: order.maker };
  const text = toHex(bytesOfText(ORDER_2.text));
  const length = ORDER_2.text.length.toString(16).padStart(4, '0');
  return {
    id,
    data: new TypedData(of, separator, WALLET_ORDER, message),
    // Separator, hash of the order, text of its type, length of the text.
    tail: `${separator}${ORDER_2.of(order)}${text}${length}`,
  };
}

/** @param timestamp the text of the header */
export function authData(
  chainId: number,
  address: string,
  timestamp: string,
  nonce: string,
): TypedData {
  const values = { name: 'ClobAuthDomain', version: '1', chainId };
  const message = { address, timestamp, nonce, message: AUTH_MESSAGE };
  return new TypedData({ type: AUTH_DOMAIN, values }, AUTH_DOMAIN.of(values), AUTH, message);
}

function separatorOf(domain: OrderDomain): string {
  let separator = separators.get(domain);
  if (separator === undefined) {
    separator = DOMAIN.of(domain);
    separators.set(domain, separator);
  }
  return separator;
}

function hashText(text: string): string {
  return toHex(keccak256(bytesOfText(text)));
}

function hex(value: Value): string {
  const text = String(value);
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(text)) throw new RangeError(`not hex: ${text}`);
  return text.slice(2);
}
