/**
 * Single entry point to the package ethers: an independent implementation of addresses, digests and
 * signatures of the node and of its client.
 */
import {
  AbiCoder,
  computeAddress,
  concat,
  dataLength,
  getCreate2Address,
  hexlify,
  keccak256,
  recoverAddress,
  solidityPacked,
  type TypedDataDomain,
  TypedDataEncoder,
  type TypedDataField,
  toUtf8Bytes,
  Wallet,
  ZeroHash,
} from 'ethers';
import type { OrderDomain, UnsignedOrder, UnsignedOrder2 } from '../../client/typed-data.ts';

export {
  concat,
  getBytes,
  getCreate2Address,
  hexlify,
  Interface,
  keccak256,
  solidityPacked,
  TypedDataEncoder,
  type TypedDataField,
  toBeHex,
  toUtf8Bytes,
  Wallet,
  ZeroAddress,
  ZeroHash,
  zeroPadValue,
} from 'ethers';

const ORDER_TYPES: Record<string, TypedDataField[]> = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'taker', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'feeRateBps', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
  ],
};

const ORDER_2_TYPES: Record<string, TypedDataField[]> = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
    { name: 'timestamp', type: 'uint256' },
    { name: 'metadata', type: 'bytes32' },
    { name: 'builder', type: 'bytes32' },
  ],
};

const AUTH_TYPES: Record<string, TypedDataField[]> = {
  ClobAuth: [
    { name: 'address', type: 'address' },
    { name: 'timestamp', type: 'string' },
    { name: 'nonce', type: 'uint256' },
    { name: 'message', type: 'string' },
  ],
};

const AUTH_MESSAGE = 'This message attests that I control the given wallet';

export function addressByEthers(privateKey: string): string {
  return computeAddress(privateKey);
}

/** Keeps four members: ethers refuses a domain with any other key. */
function ethersDomain(domain: OrderDomain): OrderDomain {
  const { name, version, chainId, verifyingContract } = domain;
  return { name, version, chainId, verifyingContract };
}

export function orderDigestByEthers(domain: OrderDomain, order: UnsignedOrder): string {
  return TypedDataEncoder.hash(ethersDomain(domain), ORDER_TYPES, order);
}

export function order2DigestByEthers(domain: OrderDomain, order: UnsignedOrder2): string {
  return TypedDataEncoder.hash(ethersDomain(domain), ORDER_2_TYPES, order);
}

export function signTypedDataByEthers(
  privateKey: string,
  domain: OrderDomain,
  order: UnsignedOrder,
): Promise<string> {
  return new Wallet(privateKey).signTypedData(ethersDomain(domain), ORDER_TYPES, order);
}

/** Type of an EIP-712 text: its name and its members. */
function typeOf(text: string): { readonly name: string; readonly fields: TypedDataField[] } {
  const [, name = '', members = ''] = /^(\w+)\((.*)\)$/.exec(text) ?? [];
  const fields = members.split(',').map((member) => {
    const [type = '', field = ''] = member.split(' ');
    return { name: field, type };
  });
  return { name, fields };
}

export async function typedDataByEthers(
  privateKey: string,
  domain: TypedDataDomain,
  domainType: string,
  message: object,
  messageType: string,
): Promise<{ readonly digest: string; readonly signature: string }> {
  const values = message as Record<string, unknown>;
  const [ofDomain, ofMessage] = [typeOf(domainType), typeOf(messageType)];
  const types = { [ofMessage.name]: ofMessage.fields };
  const separator = TypedDataEncoder.hashStruct(
    ofDomain.name,
    { [ofDomain.name]: ofDomain.fields },
    domain as Record<string, unknown>,
  );
  const hash = TypedDataEncoder.hashStruct(ofMessage.name, types, values);
  const digest = keccak256(concat(['0x1901', separator, hash]));
  const signature = await new Wallet(privateKey).signTypedData(domain, types, values);
  return { digest, signature };
}

/** Typed data as a parameter of `eth_signTypedData_v4`: its digest, and its signature by a key. */
export async function typedDataTextByEthers(
  privateKey: string,
  text: string,
): Promise<{ readonly digest: string; readonly signature: string }> {
  const { domain, message, primaryType, types } = JSON.parse(text) as {
    readonly domain: TypedDataDomain;
    readonly message: Record<string, unknown>;
    readonly primaryType: string;
    readonly types: Record<string, TypedDataField[]>;
  };
  const { EIP712Domain: ofDomain = [], ...own } = types;
  const encoder = TypedDataEncoder.from(own);
  const separator = TypedDataEncoder.hashStruct(
    'EIP712Domain',
    { EIP712Domain: ofDomain },
    domain as Record<string, unknown>,
  );
  const digest = keccak256(concat(['0x1901', separator, encoder.hashStruct(primaryType, message)]));
  return { digest, signature: await new Wallet(privateKey).signTypedData(domain, own, message) };
}

export function authDigestByEthers(
  chainId: number,
  address: string,
  timestamp: string,
  nonce: string,
): string {
  return TypedDataEncoder.hash({ name: 'ClobAuthDomain', version: '1', chainId }, AUTH_TYPES, {
    address,
    timestamp,
    nonce,
    message: AUTH_MESSAGE,
  });
}

/** Signature of a deposit wallet by its owner, from the description of its parts alone. */
export async function walletSignatureByEthers(
  privateKey: string,
  domain: OrderDomain,
  order: UnsignedOrder2,
): Promise<{ readonly digest: string; readonly signature: string; readonly parts: string[] }> {
  const of = ethersDomain(domain);
  const types = {
    TypedDataSign: [
      { name: 'contents', type: 'Order' },
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
      { name: 'salt', type: 'bytes32' },
    ],
    ...ORDER_2_TYPES,
  };
  const message = {
    contents: order,
    name: 'DepositWallet',
    version: '1',
    chainId: domain.chainId,
    verifyingContract: order.maker,
    salt: ZeroHash,
  };
  const signed = await new Wallet(privateKey).signTypedData(of, types, message);
  const text = TypedDataEncoder.from(ORDER_2_TYPES).encodeType('Order');
  const parts = [
    signed,
    TypedDataEncoder.hashDomain(of),
    TypedDataEncoder.hashStruct('Order', ORDER_2_TYPES, order),
    hexlify(toUtf8Bytes(text)),
    '0x00ba',
  ];
  const digest = TypedDataEncoder.hash(of, types, message);
  return { digest, signature: concat(parts), parts };
}

/** Beacon wallet of an owner, from its code as published. @param factory deployer and beacon */
export function depositWalletByEthers(factory: string, owner: string) {
  const [deployer = '', beacon = ''] = factory.split(':');
  const args = AbiCoder.defaultAbiCoder().encode(['address', 'address'], [deployer, owner]);
  const code = concat([
    '0x6100923d8160233d3973',
    beacon,
    '0x60195155f3363d3d373d3d363d602036600436635c60da',
    '0x1b60e01b36527fa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6c',
    '0xb3582b35133d50545afa5036515af43d6000803e604d573d6000fd5b3d6000f3',
    args,
  ]);
  const codeHash = keccak256(code);
  const wallet = getCreate2Address(deployer, keccak256(args), codeHash);
  return { wallet, codeHash, codeBytes: dataLength(code) };
}

/** Checksummed signer of a digest by ethers; throws on a malformed signature. */
export function recoverByEthers(digest: string, signature: string): string {
  return recoverAddress(digest, signature);
}

/**
 * Wallet of a signer by a factory; `packed` = the factory hashes the 20 bytes of its address alone.
 */
export function walletByEthers(
  factory: string,
  initCodeHash: string,
  signer: string,
  packed: boolean,
): string {
  const salted = packed
    ? solidityPacked(['address'], [signer])
    : AbiCoder.defaultAbiCoder().encode(['address'], [signer]);
  return getCreate2Address(factory, keccak256(salted), initCodeHash);
}
