/**
 * Packages that trade with money: a node with LEDGER=on, where each wallet goes from its first balance to a payout.
 * A wallet is the signer itself, or follows from it by a factory of the profile (signature types 1 and 2).
 */
import assert from 'node:assert/strict';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { walletByEthers } from '../common/ethers.ts';
import { get, temporaryDirectory, until } from '../common/node-harness.ts';
import type { Call } from './calls.ts';

type Json = Readonly<Record<string, unknown>>;
export type SignatureType = 0 | 1 | 2;

export interface Terms {
  readonly token: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
  readonly size: number;
}

type Fill = readonly [price: number, size: number];

export interface MoneyClient {
  /** Micro-units of collateral, or of a token. */
  readonly balance: (token?: string) => Promise<string>;
  /** Rejects with the text of a refusal. */
  readonly order: (terms: Terms) => Promise<{ readonly id: string; readonly status: string }>;
  readonly cancel: (id: string) => Promise<unknown>;
  readonly openOrders: (token: string) => Promise<readonly unknown[]>;
  readonly fills: (token: string) => Promise<readonly Fill[]>;
}

/** A package: names of its calls, and the creation of a wallet. */
export interface MoneyPackage {
  readonly names: Readonly<Record<keyof MoneyClient, string>>;
  /** Statuses of an order that rests, and of one that filled. */
  readonly statuses: { readonly rests: string; readonly filled: string };
  readonly address: (privateKey: string) => string;
  readonly join: (
    host: string,
    privateKey: string,
    type: SignatureType,
    funder: string,
  ) => Promise<MoneyClient>;
}

const TYPES: readonly SignatureType[] = [0, 1, 2];
const MICRO = 1_000_000;
const TOO_MUCH = /not enough balance \/ allowance/;

export function openMoneyVenue(): Promise<OperatorNode> {
  return OperatorNode.start(temporaryDirectory(), {
    CLIENT_PROFILE: 'polymarket',
    LEDGER: 'on',
    FAUCET: '1000',
  });
}

/** @param digit hex digit of which the keys of this package are made */
export async function moneyCalls(
  operator: OperatorNode,
  used: MoneyPackage,
  digit: string,
): Promise<readonly Call[]> {
  const calls: Call[] = [];
  for (const type of TYPES) calls.push(...lifeOf(await openLife(operator, used, digit, type)));
  return calls;
}

interface Life {
  readonly operator: OperatorNode;
  readonly used: MoneyPackage;
  readonly type: SignatureType;
  readonly wallet: string;
  readonly client: MoneyClient;
  readonly other: MoneyClient;
  readonly condition: string;
  readonly yes: string;
  readonly no: string;
}

async function openLife(
  operator: OperatorNode,
  used: MoneyPackage,
  digit: string,
  type: SignatureType,
): Promise<Life> {
  const [key, otherKey] = ['a', 'b'].map((last) => `0x${`${digit}${type + 1}${last}1`.repeat(16)}`);
  const signer = used.address(key!);
  const wallet = walletOf(type, signer);
  const host = `http://127.0.0.1:${operator.node.port}`;
  const client = await used.join(host, key!, type, wallet);
  const other = await used.join(host, otherKey!, 0, used.address(otherKey!));
  // The faucet gives to the signer; the money of other wallets comes from the operator.
  const deposit = { wallet, amount: '1000' };
  if (type !== 0) await operator.done('POST /admin/ledger/deposit', deposit);
  const question = `Will ${wallet} be paid?`;
  const wish = { question, outcomes: ['Yes', 'No'] };
  const { condition, tokens } = await operator.done('POST /admin/markets', wish);
  const [yes = '', no = ''] = tokens as readonly string[];
  return { operator, used, type, wallet, client, other, condition: String(condition), yes, no };
}

function walletOf(type: SignatureType, signer: string): string {
  if (type === 0) return signer;
  const { proxyWalletFactory, safeWalletFactory } = PROFILE_TABLE;
  const text = type === 1 ? proxyWalletFactory.polymarket : safeWalletFactory.polymarket;
  const [factory = '', codeHash = ''] = text.split(':');
  return walletByEthers(factory, codeHash, signer, type === 1);
}

/** Calls from the first balance to the payout: 100 shares for 40, which pay 100. */
function lifeOf({ client, condition, no, operator, other, type, used, wallet, yes }: Life): Call[] {
  const { names, statuses } = used;
  const owns = async (cash: number, shares: number): Promise<void> => {
    assert.deepEqual(
      [await client.balance(), await client.balance(yes)],
      [String(cash * MICRO), String(shares * MICRO)],
    );
  };
  const positions = async (path: string): Promise<readonly Json[]> => {
    const { json } = await get(operator.node, `/data/${path}?user=${wallet}`);
    return json as readonly Json[];
  };
  const has = async (path: string, column: string, amount: number): Promise<void> => {
    await until(async () => (await positions(path)).length === 1);
    const [{ asset, [column]: found } = {}] = await positions(path);
    assert.deepEqual([asset, found], [yes, amount]);
  };
  const sale: Terms = { token: yes, side: 'SELL', price: 0.9, size: 100 };
  const bid: Terms = { token: yes, side: 'BUY', price: 0.4, size: 100 };
  const rows: readonly (readonly [string, () => Promise<unknown>])[] = [
    [`${names.balance}, at first`, () => owns(1000, 0)],
    [
      names.order,
      async () => {
        assert.equal((await client.order(bid)).status, statuses.rests);
        await owns(1000, 0);
      },
    ],
    [
      `${names.order}, of more than is free`,
      async () => {
        await assert.rejects(client.order({ ...bid, price: 0.97, size: 1000 }), TOO_MUCH);
        await assert.rejects(client.order({ ...sale, size: 5 }), TOO_MUCH);
      },
    ],
    [
      `${names.balance}, and positions, after a fill`,
      async () => {
        const { status } = await other.order({ token: no, side: 'BUY', price: 0.6, size: 100 });
        assert.equal(status, statuses.filled);
        await owns(960, 100);
        await has('positions', 'size', 100);
      },
    ],
    [
      names.cancel,
      async () => {
        const { id } = await client.order(sale);
        await assert.rejects(client.order({ ...sale, size: 5 }), TOO_MUCH);
        await client.cancel(id);
        assert.equal((await client.order(sale)).status, statuses.rests);
      },
    ],
    [
      `${names.balance}, and positions, after a payout`,
      async () => {
        const payout = { condition, payout: [1, 0] };
        await operator.done('POST /admin/markets/resolve', payout);
        await until(async () => (await client.balance(yes)) === '0');
        await owns(1060, 0);
        assert.deepEqual(await client.openOrders(yes), []);
        await until(async () => (await positions('positions')).length === 0);
        await has('closed-positions', 'realizedPnl', 60);
      },
    ],
  ];
  return rows.map(([name, run]) => ({ name: `${name}; signature type ${type}`, run }));
}
