/**
 * Relayer of the node: checks batches that owners of wallets signed, and applies them to the ledger.
 * Rules: docs/protocol.md#relayed-batches
 *
 * Thread: I/O.
 */
import type { RelayCallFields, RelayFields } from '../../engine/commands.ts';
import { marketFirstToken, marketFlags, marketTokens } from '../../engine/reads.ts';
import { relayedCount } from '../../engine/relay.ts';
import { ADDRESS_WORDS, ID_WORDS, MarketFlag, SIGNATURE_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Auth } from '../auth/auth.ts';
import { recoverAddress } from '../auth/secp256k1.ts';
import { type WalletFactories, Wallets } from '../auth/wallet-factory.ts';
import { errorBody, JOURNAL_UNAVAILABLE, type RefusalFacts } from '../common/error-bodies.ts';
import { isPosition } from '../common/position-ids.ts';
import { REFUSALS, REJECTS } from '../common/refusals.ts';
import { bytesToHex, bytesToWords, hexToBytes } from '../common/uint256.ts';
import { accountByAddress, marketByCondition } from '../market-data/find.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import type { Exchanges } from '../wallet/approval-table.ts';
import type { DeployedWallets } from '../wallet/deployed-wallets.ts';
import type { LedgerCommands, RelayOutcome } from '../wallet/ledger-commands.ts';
import { KnownCalls, type NamedMarket, type SentCall } from './known-calls.ts';
import type { CreationBody, SubmitBody, WalletType } from './relayer-schemas.ts';
import { type BatchBody, signedBatch, walletIn } from './signed-batch.ts';
import { relayedHash, type Transaction, transactionId, transactionOf } from './transaction-ids.ts';

export interface RelayerParts {
  readonly auth: Pick<Auth, 'isBanned' | 'registry'>;
  readonly chainId: number;
  readonly deployed: Pick<DeployedWallets, 'has'>;
  readonly exchanges: Exchanges;
  /** Contracts that orders of older versions are signed for. */
  readonly olderExchanges: readonly string[];
  readonly factories: WalletFactories;
  /** `undefined` on a node that cannot write. */
  readonly ledger: LedgerCommands | undefined;
  readonly sequenceLock: SequenceLockReader;
  readonly tables: Tables;
  readonly texts: TokenTexts;
  /** Unix milliseconds against which credentials are judged. */
  readonly wall: () => number;
}

type Answer = readonly [status: number, body: string];

/** Codes whose refusals have a status. */
type RelayerCode =
  | 'ADDRESS_BANNED'
  | 'BATCH_EXPIRED'
  | 'INVALID_BATCH_SIGNATURE'
  | 'INVALID_CALL'
  | 'MARKET_NOT_REGISTERED'
  | 'UNKNOWN_CALL'
  | 'UNKNOWN_TRANSACTION'
  | 'WALLET_FOREIGN'
  | 'WALLET_NOT_DEPLOYED';

const ADDRESS_BYTES = 20;
const SECOND_MS = 1_000;
const SIGNATURE_TYPES: Readonly<Record<WalletType, number>> = { PROXY: 1, SAFE: 2, WALLET: 3 };
const NO_FACTORY = '';

export class Relayer {
  private readonly parts: RelayerParts;
  private readonly wallets: Wallets;
  private readonly known: KnownCalls;
  private readonly proxyFactory: string;

  constructor(parts: RelayerParts) {
    this.parts = parts;
    const { exchanges, factories, olderExchanges } = parts;
    // The wallet of the older kind is never deployed.
    this.wallets = new Wallets({ ...factories, uups: undefined });
    this.known = new KnownCalls(exchanges, olderExchanges, (condition) => this.marketOf(condition));
    const { proxy } = factories;
    this.proxyFactory =
      proxy === undefined ? NO_FACTORY : bytesToHex(proxy.address, 0, ADDRESS_BYTES);
  }

  submit(body: SubmitBody): Answer | Promise<Answer> {
    return body.type === 'WALLET-CREATE' || body.type === 'SAFE-CREATE'
      ? this.create(body)
      : this.relay(body);
  }

  /** Returns the next nonce of a wallet; `undefined` where no factory derives one. */
  async nonceOf(type: WalletType, owner: string): Promise<string | undefined> {
    const wallet = this.walletOf(type, addressBytes(owner));
    if (wallet === undefined) return undefined;
    return String(await this.countOf(textOf(wallet)));
  }

  /** Returns a transaction that was applied. */
  async transaction(id: string): Promise<Transaction | undefined> {
    const named = transactionOf(id);
    if (named === undefined) return undefined;
    if (named.nonce === undefined) {
      return (await this.parts.deployed.has(addressBytes(named.wallet))) ? named : undefined;
    }
    return named.nonce < (await this.countOf(named.wallet)) ? named : undefined;
  }

  /** Nothing is made: a wallet is there once its owner has an API key. */
  private create({ from, type }: CreationBody): Answer {
    const owner = addressBytes(from);
    const wallet = this.walletOf(type === 'SAFE-CREATE' ? 'SAFE' : 'WALLET', owner);
    const refused = this.refusalOf(owner, wallet);
    return refused ?? accepted({ wallet: textOf(wallet!), nonce: undefined });
  }

  private async relay(body: BatchBody): Promise<Answer> {
    const { chainId, ledger, wall } = this.parts;
    const owner = addressBytes(body.from);
    const wallet = this.walletOf(body.type, owner);
    const isOwn = wallet !== undefined && textOf(wallet) === walletIn(body);
    if (wallet !== undefined && !isOwn) {
      return refusal(
        'WALLET_FOREIGN',
        'the wallet is not the one that follows from the owner in from',
      );
    }
    const refused = this.refusalOf(owner, wallet);
    if (refused !== undefined) return refused;
    const batch = signedBatch(body, chainId, this.proxyFactory);
    if ('code' in batch) return refusal(batch.code, batch.detail);
    const { calls: sent, deadline, digest, signature } = batch;
    const signer = new Uint8Array(ADDRESS_BYTES);
    if (!recoverAddress(digest, signature, signer, 0)) {
      return refusal('INVALID_BATCH_SIGNATURE', 'no address can have made the signature');
    }
    if (textOf(signer) !== textOf(owner)) {
      return refusal('INVALID_BATCH_SIGNATURE', '', { recovered: textOf(signer) });
    }
    if (deadline !== undefined && deadline * SECOND_MS < wall()) return refusal('BATCH_EXPIRED');
    const read = this.callsOf(sent);
    if ('refused' in read) return read.refused;
    if (ledger === undefined) return [503, JOURNAL_UNAVAILABLE];
    const nonce = Number(body.nonce);
    const fields: RelayFields = {
      wallet: addressWords(wallet!),
      owner: addressWords(owner),
      signature: signatureWords(signature),
      digest: bytesToWords(digest, new Int32Array(ID_WORDS)),
      nonce,
      calls: read.calls,
    };
    const outcome = await ledger.relay(fields);
    if (outcome.kind !== 'done') return outcomeAnswer(outcome, body.nonce);
    return accepted({ wallet: textOf(wallet!), nonce });
  }

  private callsOf(
    sent: readonly SentCall[],
  ): { readonly calls: readonly RelayCallFields[] } | { readonly refused: Answer } {
    const calls: RelayCallFields[] = [];
    for (const [i, call] of sent.entries()) {
      const read = this.known.read(call);
      if ('code' in read) {
        return { refused: refusal(read.code, read.detail, { call: String(i) }) };
      }
      calls.push(read);
    }
    return { calls };
  }

  private refusalOf(owner: Uint8Array, wallet: Uint8Array | undefined): Answer | undefined {
    const { isBanned, registry } = this.parts.auth;
    if (wallet === undefined || !registry.hasKeys(owner)) return refusal('WALLET_NOT_DEPLOYED');
    const isAnyBanned = isBanned(textOf(owner)) || isBanned(textOf(wallet));
    return isAnyBanned ? refusal('ADDRESS_BANNED') : undefined;
  }

  private walletOf(type: WalletType, owner: Uint8Array): Uint8Array | undefined {
    return this.wallets.walletsOf(SIGNATURE_TYPES[type], owner)[0];
  }

  private async countOf(wallet: string): Promise<number> {
    const { sequenceLock, tables } = this.parts;
    return sequenceLock.read(() => relayedCount(tables, accountByAddress(tables, wallet)));
  }

  private marketOf(condition: string): NamedMarket | undefined {
    const { tables, texts } = this.parts;
    const row = marketByCondition(tables, condition);
    if (row === 0) return undefined;
    const isOfPositions = isPosition(texts.tokenId(marketFirstToken(tables, row)));
    const isNegRisk = (marketFlags(tables, row) & MarketFlag.negRisk) !== 0;
    const form = isOfPositions ? 'positions' : isNegRisk ? 'negRisk' : 'normal';
    return { row, form, outcomes: marketTokens(tables, row) };
  }
}

function accepted(transaction: Transaction): Answer {
  const answer = {
    transactionID: transactionId(transaction),
    transactionHash: relayedHash(transaction),
    state: 'STATE_NEW',
  };
  return [200, JSON.stringify(answer)];
}

function outcomeAnswer(
  outcome: Exclude<RelayOutcome, { readonly kind: 'done' }>,
  sentNonce: string,
): Answer {
  if (outcome.kind === 'failed') return [outcome.status, outcome.body];
  const { call, nonce, reason } = outcome;
  const { code, status } = REJECTS[reason];
  // Official packages read both numbers from this text.
  const text = `batch nonce ${sentNonce} does not match on-chain nonce ${nonce}`;
  const facts = call < 0 ? undefined : { call: String(call) };
  const body = errorBody(code, '', { facts, ...(code === 'NONCE_MISMATCH' && { text }) });
  return [status, body];
}

function refusal(code: RelayerCode, detail = '', facts?: RefusalFacts): Answer {
  return [REFUSALS[code].status, errorBody(code, detail, { facts })];
}

function addressBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(ADDRESS_BYTES);
  hexToBytes(text, ADDRESS_BYTES, bytes, 0);
  return bytes;
}

function addressWords(address: Uint8Array): Int32Array {
  return bytesToWords(address, new Int32Array(ADDRESS_WORDS));
}

function signatureWords(signature: Uint8Array): Int32Array {
  const padded = new Uint8Array(4 * SIGNATURE_WORDS);
  padded.set(signature);
  return bytesToWords(padded, new Int32Array(SIGNATURE_WORDS));
}

function textOf(address: Uint8Array): string {
  return bytesToHex(address, 0, ADDRESS_BYTES);
}
