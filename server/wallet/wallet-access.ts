/**
 * Rights of a caller to a wallet: its owner, or an agent that may read it. Rules: docs/protocol.md#agents
 *
 * Thread: I/O, while workers write.
 */
import { findInvited } from '../../engine/invites.ts';
import {
  agentsOfAddress,
  agentView,
  findAgent,
  isActiveAgent,
} from '../../engine/ledger/agents.ts';
import { cashTotal } from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { addressAt, walletSigner } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import { sameAddress } from '../../engine/tables/words.ts';
import { type WalletFactories, Wallets } from '../auth/wallet-factory.ts';
import { errorBody } from '../common/error-bodies.ts';
import { REFUSALS } from '../common/refusals.ts';
import { bytesToWords, hexToBytes } from '../common/uint256.ts';
import type { RequestContext } from '../http/http.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';

export interface AccessParts {
  readonly tables: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly factories: WalletFactories;
}

const ADDRESS_BYTES = 20;

export class WalletAccess {
  readonly wallets: Wallets;
  private readonly tables: Tables;
  private readonly sequenceLock: SequenceLockReader;

  constructor({ factories, sequenceLock, tables }: AccessParts) {
    this.wallets = new Wallets(factories);
    this.tables = tables;
    this.sequenceLock = sequenceLock;
  }

  /**
   * Returns the wallet that a read names, or the caller's address; undefined for one that the caller may not read. An
   * active agent reads its wallet.
   */
  async readable(named: string | undefined, caller: Uint8Array): Promise<Uint8Array | undefined> {
    if (named === undefined) return caller;
    const wallet = addressOf(named);
    if (this.wallets.isOwn(wallet, caller)) return wallet;
    const isAllowed = await this.sequenceLock.read(() => this.signsFor(wallet, caller));
    return isAllowed ? wallet : undefined;
  }

  /** True for the signer that is bound to a wallet, and for its active agents. */
  private signsFor(wallet: Uint8Array, caller: Uint8Array): boolean {
    const { tables } = this;
    const account = findAccount(tables, wordsOf(wallet), 0);
    const words = wordsOf(caller);
    if (account === 0) return false;
    const bound = walletSigner(tables, account);
    if (bound !== 0 && sameAddress(tables.accountI, addressAt(bound), words, 0)) return true;
    const agent = findAgent(tables, account, words, 0);
    return agent !== 0 && isActiveAgent(tables, agent);
  }
}

export function refuseForeign(context: RequestContext): void {
  context.reply(REFUSALS.WALLET_FOREIGN.status, errorBody('WALLET_FOREIGN'));
}

/** Address of a text that was checked. */
export function addressOf(text: string): Uint8Array {
  const address = new Uint8Array(ADDRESS_BYTES);
  hexToBytes(text, ADDRESS_BYTES, address, 0);
  return address;
}

export function wordsOf(address: Uint8Array): Int32Array {
  return bytesToWords(address, new Int32Array(ADDRESS_WORDS));
}

/**
 * True for an active agent of a wallet that has cash, or that was invited itself or by its signer. An agent of another
 * agent's empty wallet is none, so that one invitation brings no chain of keys.
 */
export function isAgentOfInvited(t: Tables, address: Uint8Array): boolean {
  const isMember = (account: AccountRow | 0): boolean =>
    account !== 0 && findInvited(t, t.accountI, addressAt(account)) !== 0;
  return agentsOfAddress(t, wordsOf(address), 0).some((row) => {
    if (!isActiveAgent(t, row)) return false;
    const { wallet } = agentView(t, row, 0);
    return cashTotal(t, wallet) > 0 || isMember(wallet) || isMember(walletSigner(t, wallet));
  });
}
