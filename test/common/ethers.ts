/**
 * Single entry point to the package ethers: an independent implementation of addresses, digests and
 * signatures of the node and of its client.
 */
import {
  AbiCoder,
  computeAddress,
  concat,
  getCreate2Address,
  keccak256,
  recoverAddress,
  solidityPacked,
  type TypedDataDomain,
  TypedDataEncoder,
  type TypedDataField,
  Wallet,
} from 'ethers';
import type { OrderDomain, UnsignedOrder, UnsignedOrder2 } from '../../client/typed-data.ts';

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
