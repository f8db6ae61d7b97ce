/**
 * Orders of a client of its own: types, contracts and bytes are written from the published sources of the service, none
 * comes from the node or from its client. Hashes and signatures are those of ethers.
 */
import {
  concat,
  getCreate2Address,
  hexlify,
  keccak256,
  TypedDataEncoder,
  type TypedDataField,
  toBeHex,
  toUtf8Bytes,
  Wallet,
  ZeroAddress,
  ZeroHash,
  zeroPadValue,
} from '../common/ethers.ts';

export type Kind = 'plain' | 'proxy' | 'safe' | 'deposit';
export const KINDS: readonly Kind[] = ['plain', 'proxy', 'safe', 'deposit'];
export type Version = 1 | 2 | 3;
export type Side = 'BUY' | 'SELL';
export type OrderType = 'GTC' | 'FOK' | 'FAK';

const SIGNATURE_TYPES: Readonly<Record<Kind, number>> = { plain: 0, proxy: 1, safe: 2, deposit: 3 };
const CHAIN_ID = 137;
const NAME = 'Polymarket CTF Exchange';

interface Contracts {
  readonly normal: string;
  readonly negRisk: string;
}
const CONTRACT_3 = '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa';
const CONTRACTS: Readonly<Record<Version, Contracts>> = {
  1: {
    normal: '0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E',
    negRisk: '0xC5d563A36AE78145C45a50134d48A1215220f80a',
  },
  2: {
    normal: '0xE111180000d2663C0091e4f400237545B87B996B',
    negRisk: '0xe2222d279d744050d28e00520010520000310F59',
  },
  3: { normal: CONTRACT_3, negRisk: CONTRACT_3 },
};

const field = (text: string): TypedDataField => {
  const [type = '', name = ''] = text.split(' ');
  return { name, type };
};
const ORDER_1 = [
  'uint256 salt',
  'address maker',
  'address signer',
  'address taker',
  'uint256 tokenId',
  'uint256 makerAmount',
  'uint256 takerAmount',
  'uint256 expiration',
  'uint256 nonce',
  'uint256 feeRateBps',
  'uint8 side',
  'uint8 signatureType',
].map(field);
const ORDER_2_TEXT =
  'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)';
const ORDER_2 = ORDER_2_TEXT.slice('Order('.length, -1).split(',').map(field);
const WALLET_SIGN = [
  'Order contents',
  'string name',
  'string version',
  'uint256 chainId',
  'address verifyingContract',
  'bytes32 salt',
].map(field);
const CLOB_AUTH = ['address address', 'string timestamp', 'uint256 nonce', 'string message'].map(
  field,
);

const DEPOSIT_FACTORY = '0x00000000000Fb5C9ADea0298D729A0CB3823Cc07';
const BEACON = '0x7A18EDfe055488A3128f01F563e5B479D92ffc3a';
const PROXY_FACTORY = '0xaB45c5A4B0c941a2F231C04C3f49182e1A254052';
const PROXY_CODE_HASH = '0xd21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b';
const SAFE_FACTORY = '0xaacFeEa03eb1561C4e67d661e40682Bd20E3541b';
const SAFE_CODE_HASH = '0x2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf';

/** Wallet of an owner, by the factory of its kind. */
export function walletOf(kind: Kind, owner: string): string {
  if (kind === 'plain') return owner;
  if (kind === 'proxy') return getCreate2Address(PROXY_FACTORY, keccak256(owner), PROXY_CODE_HASH);
  const word = zeroPadValue(owner, 32);
  if (kind === 'safe') return getCreate2Address(SAFE_FACTORY, keccak256(word), SAFE_CODE_HASH);
  const args = concat([zeroPadValue(DEPOSIT_FACTORY, 32), word]);
  const code = concat([
    '0x6100923d8160233d3973',
    BEACON,
    '0x60195155f3363d3d373d3d363d602036600436635c60da',
    '0x1b60e01b36527fa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6c',
    '0xb3582b35133d50545afa5036515af43d6000803e604d573d6000fd5b3d6000f3',
    args,
  ]);
  return getCreate2Address(DEPOSIT_FACTORY, keccak256(args), keccak256(code));
}

/** True for an id of the second protocol, which clients tell by its layout. */
export function isPosition(token: bigint): boolean {
  return (token & ((2n ** 64n - 1n) << 40n)) === 0n;
}

export interface Terms {
  readonly token: string;
  readonly negRisk: boolean;
  readonly side: Side;
  /** Micro-units. */
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly type?: OrderType;
  readonly postOnly?: boolean;
}

export interface SignedOrder {
  readonly id: string;
  /** Item of a request but its `owner`. */
  readonly item: Readonly<Record<string, unknown>>;
}

let salts = Date.now();

export class Signer {
  readonly kind: Kind;
  readonly address: string;
  /** Address that pays. */
  readonly wallet: string;
  private readonly key: Wallet;

  constructor(privateKey: string, kind: Kind) {
    this.key = new Wallet(privateKey);
    this.kind = kind;
    this.address = this.key.address;
    this.wallet = walletOf(kind, this.address);
  }

  /** Headers of level 1. */
  async proof(): Promise<Record<string, string>> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const domain = { name: 'ClobAuthDomain', version: '1', chainId: CHAIN_ID };
    const message = {
      address: this.address,
      timestamp,
      nonce: 0,
      message: 'This message attests that I control the given wallet',
    };
    return {
      POLY_ADDRESS: this.address,
      POLY_SIGNATURE: await this.key.signTypedData(domain, { ClobAuth: CLOB_AUTH }, message),
      POLY_TIMESTAMP: timestamp,
      POLY_NONCE: '0',
    };
  }

  async sign(version: Version, terms: Terms): Promise<SignedOrder> {
    const { makerAmount, negRisk, postOnly, side, takerAmount, token, type } = terms;
    salts += 1;
    const contracts = CONTRACTS[version];
    const domain = {
      name: NAME,
      version: String(version),
      chainId: CHAIN_ID,
      verifyingContract: negRisk ? contracts.negRisk : contracts.normal,
    };
    const ofAll = {
      salt: salts,
      maker: this.wallet,
      signer: this.kind === 'deposit' ? this.wallet : this.address,
      tokenId: token,
      makerAmount: String(makerAmount),
      takerAmount: String(takerAmount),
      side: side === 'BUY' ? 0 : 1,
      signatureType: SIGNATURE_TYPES[this.kind],
    };
    const ofVersion =
      version === 1
        ? { taker: ZeroAddress, expiration: '0', nonce: '0', feeRateBps: '0' }
        : { timestamp: String(Date.now()), metadata: ZeroHash, builder: ZeroHash };
    const order = { ...ofAll, ...ofVersion };
    const types = { Order: version === 1 ? ORDER_1 : ORDER_2 };
    const signature =
      this.kind === 'deposit'
        ? await this.wrapped(domain, order)
        : await this.key.signTypedData(domain, types, order);
    const sent = { ...order, side, expiration: '0', signature };
    const item = { order: sent, orderType: type ?? 'GTC', deferExec: false };
    return {
      id: TypedDataEncoder.hash(domain, types, order),
      item: postOnly === undefined ? item : { ...item, postOnly },
    };
  }

  /** Signature of 317 bytes of a deposit wallet. */
  private async wrapped(
    domain: { readonly [member: string]: unknown },
    order: { readonly maker: string },
  ): Promise<string> {
    const message = {
      contents: order,
      name: 'DepositWallet',
      version: '1',
      chainId: CHAIN_ID,
      verifyingContract: order.maker,
      salt: ZeroHash,
    };
    const types = { TypedDataSign: WALLET_SIGN, Order: ORDER_2 };
    return concat([
      await this.key.signTypedData(domain, types, message),
      TypedDataEncoder.hashDomain(domain),
      TypedDataEncoder.hashStruct('Order', { Order: ORDER_2 }, order),
      hexlify(toUtf8Bytes(ORDER_2_TEXT)),
      toBeHex(ORDER_2_TEXT.length, 2),
    ]);
  }
}
