/** Batches of wallets as official packages sign them, by ethers alone. */

import { PROFILE_TABLE } from '../../server/config/profile.ts';
import {
  concat,
  depositWalletByEthers,
  getBytes,
  Interface,
  keccak256,
  solidityPacked,
  TypedDataEncoder,
  Wallet,
  walletByEthers,
  ZeroAddress,
  ZeroHash,
} from '../common/ethers.ts';

const CHAIN_ID = 137;
export const COLLATERAL = '0xC011a7E12a19f7B1f670d46F03B03f3342E82DFB';
export const CONDITIONAL = '0x4D97DCd97eC945f40cF65F87097ACe5EA0476045';
export const POSITIONS = '0x006F54F7f9A22e0000CC2AB60031000000ae9fEF';
export const NEG_RISK_ADAPTER = '0xd91E80cF2E7be2e162c6513ceD06f1dD0dA35296';
export const COLLATERAL_ADAPTER = '0xAdA100Db00Ca00073811820692005400218FcE1f';
export const NEG_RISK_COLLATERAL_ADAPTER = '0xadA2005600Dec949baf300f4C6120000bDB6eAab';
export const ROUTER = '0x12121212006e4CD160D18e3f00711DA5c3372600';
const SAFE_MULTISEND = '0xA238CBeb142c10Ef7Ad8442C6D1f9E89e07e7761';
const RELAY_HUB = '0xD216153c06E857cD7f72665E0aF1d7D82172F494';
const [PROXY_FACTORY = '', PROXY_CODE = ''] =
  PROFILE_TABLE.proxyWalletFactory.polymarket.split(':');
const [SAFE_FACTORY = '', SAFE_CODE = ''] = PROFILE_TABLE.safeWalletFactory.polymarket.split(':');
const BEACON = PROFILE_TABLE.beaconWalletFactory.polymarket;
const MAX = 2n ** 256n - 1n;

export interface Call {
  readonly target: string;
  readonly data: string;
}

export type Kind = 'WALLET' | 'SAFE' | 'PROXY';

export interface BatchTerms {
  readonly nonce: number | string;
  readonly calls: readonly Call[];
  /** Unix seconds. */
  readonly deadline?: number;
  readonly chainId?: number;
  readonly relay?: string;
  readonly gasLimit?: string;
}

const FUNCTIONS = new Interface([
  'function approve(address,uint256)',
  'function setApprovalForAll(address,bool)',
  'function splitPosition(address,bytes32,bytes32,uint256[],uint256)',
  'function mergePositions(address,bytes32,bytes32,uint256[],uint256)',
  'function redeemPositions(address,bytes32,bytes32,uint256[])',
  'function splitPosition(bytes32,uint256)',
  'function mergePositions(bytes32,uint256)',
  'function redeemPositions(bytes32,uint256[])',
  'function split(bytes31,uint256)',
  'function merge(bytes31,uint256)',
  'function redeem(bytes31,uint256,uint256)',
  'function transfer(address,uint256)',
  'function multiSend(bytes)',
  'function proxy((uint8,address,uint256,bytes)[])',
]);

export function call(target: string, signature: string, ...args: readonly unknown[]): Call {
  return { target, data: FUNCTIONS.encodeFunctionData(signature, args) };
}

export function approve(spender: string, amount = MAX): Call {
  return call(COLLATERAL, 'approve(address,uint256)', spender, amount);
}

export function approveAll(token: string, spender: string, isGiven = true): Call {
  return call(token, 'setApprovalForAll(address,bool)', spender, isGiven);
}

const SETS = '(address,bytes32,bytes32,uint256[],uint256)';

export function split(contract: string, condition: string, amount: number | bigint): Call {
  const name = `splitPosition${SETS}`;
  return call(contract, name, COLLATERAL, ZeroHash, condition, [1, 2], amount);
}

export function merge(contract: string, condition: string, amount: number | bigint): Call {
  const name = `mergePositions${SETS}`;
  return call(contract, name, COLLATERAL, ZeroHash, condition, [1, 2], amount);
}

export function redeem(contract: string, condition: string): Call {
  const name = 'redeemPositions(address,bytes32,bytes32,uint256[])';
  return call(contract, name, COLLATERAL, ZeroHash, condition, [1, 2]);
}

/** Condition of 31 bytes. */
function short(condition: string): string {
  return condition.slice(0, 64);
}

export function routerSplit(condition: string, amount: number): Call {
  return call(ROUTER, 'split(bytes31,uint256)', short(condition), amount);
}

export function routerMerge(condition: string, amount: number): Call {
  return call(ROUTER, 'merge(bytes31,uint256)', short(condition), amount);
}

export function routerRedeem(condition: string, amount: number): Call {
  return call(ROUTER, 'redeem(bytes31,uint256,uint256)', short(condition), 0, amount);
}

export function walletOf(kind: Kind, owner: string): string {
  if (kind === 'WALLET') return depositWalletByEthers(BEACON, owner).wallet;
  return kind === 'SAFE'
    ? walletByEthers(SAFE_FACTORY, SAFE_CODE, owner, false)
    : walletByEthers(PROXY_FACTORY, PROXY_CODE, owner, true);
}

/** Body of POST /submit. */
export async function batch(kind: Kind, privateKey: string, terms: BatchTerms) {
  const signer = new Wallet(privateKey);
  const wallet = walletOf(kind, signer.address);
  const common = { type: kind, from: signer.address, nonce: String(terms.nonce), metadata: '' };
  if (kind === 'WALLET') return { ...common, ...(await depositParts(signer, wallet, terms)) };
  if (kind === 'SAFE') return { ...common, ...(await safeParts(signer, wallet, terms)) };
  return { ...common, ...(await proxyParts(signer, wallet, terms)) };
}

async function depositParts(
  signer: Wallet,
  wallet: string,
  { calls, chainId = CHAIN_ID, deadline = Math.floor(Date.now() / 1000) + 600, nonce }: BatchTerms,
) {
  const types = {
    Call: [
      { name: 'target', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'data', type: 'bytes' },
    ],
    Batch: [
      { name: 'wallet', type: 'address' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
      { name: 'calls', type: 'Call[]' },
    ],
  };
  const domain = { name: 'DepositWallet', version: '1', chainId, verifyingContract: wallet };
  const sent = calls.map((each) => ({ ...each, value: '0' }));
  const signature = await signer.signTypedData(domain, types, {
    wallet,
    nonce,
    deadline,
    calls: sent,
  });
  const depositWalletParams = { depositWallet: wallet, deadline: String(deadline), calls: sent };
  return { to: BEACON.slice(0, 42), signature, depositWalletParams };
}

async function safeParts(
  signer: Wallet,
  safe: string,
  { calls, chainId = CHAIN_ID, nonce }: BatchTerms,
) {
  const names = ['to', 'value', 'data', 'operation', 'safeTxGas', 'baseGas', 'gasPrice'];
  const fields = [...names, 'gasToken', 'refundReceiver', 'nonce'];
  const kinds: Record<string, string> = {
    to: 'address',
    data: 'bytes',
    operation: 'uint8',
    gasToken: 'address',
    refundReceiver: 'address',
  };
  const types = { SafeTx: fields.map((name) => ({ name, type: kinds[name] ?? 'uint256' })) };
  const [first] = calls;
  const isOne = calls.length === 1;
  const to = isOne ? first!.target : SAFE_MULTISEND;
  const packed = calls.map(({ data, target }) =>
    solidityPacked(
      ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
      [0, target, 0, getBytes(data).length, data],
    ),
  );
  const data = isOne
    ? first!.data
    : FUNCTIONS.encodeFunctionData('multiSend(bytes)', [concat(packed)]);
  const operation = isOne ? 0 : 1;
  const gas = { safeTxGas: 0, baseGas: 0, gasPrice: 0 };
  const addresses = { gasToken: ZeroAddress, refundReceiver: ZeroAddress };
  const message = { to, value: 0, data, operation, ...gas, ...addresses, nonce };
  const hash = TypedDataEncoder.hash({ chainId, verifyingContract: safe }, types, message);
  const signed = await signer.signMessage(getBytes(hash));
  const v = Number.parseInt(signed.slice(130), 16) + 4;
  const signature = `${signed.slice(0, 130)}${v.toString(16)}`;
  const signatureParams = {
    ...addresses,
    operation: String(operation),
    safeTxnGas: '0',
    baseGas: '0',
    gasPrice: '0',
  };
  return { to, proxyWallet: safe, data, signature, signatureParams };
}

async function proxyParts(
  signer: Wallet,
  proxyWallet: string,
  { calls, gasLimit = '200000', nonce, relay = signer.address }: BatchTerms,
) {
  const list = calls.map(({ data, target }) => [1, target, 0, data]);
  const data = FUNCTIONS.encodeFunctionData('proxy((uint8,address,uint256,bytes)[])', [list]);
  const packed = solidityPacked(
    [
      ...['string', 'address', 'address', 'bytes', 'uint256', 'uint256', 'uint256', 'uint256'],
      ...['address', 'address'],
    ],
    ['rlx:', signer.address, PROXY_FACTORY, data, 0, 0, gasLimit, nonce, RELAY_HUB, relay],
  );
  const signature = await signer.signMessage(getBytes(keccak256(packed)));
  const signatureParams = { gasPrice: '0', gasLimit, relayerFee: '0', relayHub: RELAY_HUB, relay };
  return { to: PROXY_FACTORY, proxyWallet, data, signature, signatureParams };
}
