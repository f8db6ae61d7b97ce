/**
 * Prepares one parsed order as an engine command, before the writer turn. Ids, digest and signature depend on
 * the request alone and are computed here, in parallel with other workers. Rules of state or time wait for
 * the turn. The first failed rule travels with the command, so that the first one of the whole list is
 * reported (docs/protocol.md#order-of-checks).
 *
 * Thread: a worker; scratch belongs to the instance. Not here: parsing (order-parse.ts).
 */

import assert from 'node:assert/strict';
import {
  type CommandBuffer,
  encodeOrder,
  OrderType,
  PrecheckFlags,
  type SettlementTerms,
} from '../../../engine/commands.ts';
import { findMarket, findToken } from '../../../engine/markets/markets.ts';
import { findAccount } from '../../../engine/orders/accounts.ts';
import { RejectReason } from '../../../engine/orders/reject-reasons.ts';
import { addressAt, marketFlags, tokenMarket, walletSigner } from '../../../engine/reads.ts';
import { FEE_BPS_MAX } from '../../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, MarketFlag } from '../../../engine/tables/codes.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  TokenRow,
} from '../../../engine/tables/units.ts';
import type { BannedAddresses } from '../../auth/banned-addresses.ts';
import { checksumAddress } from '../../auth/checksum.ts';
import { digestInVersion } from '../../auth/eip712.ts';
import type { OrderSeparators } from '../../auth/exchange-domains.ts';
import { recoverAddress } from '../../auth/secp256k1.ts';
import { type WalletFactories, Wallets } from '../../auth/wallet-factory.ts';
import {
  isSessionSignature,
  recoverOwner,
  separatorIn,
  type WalletSignatureFault,
} from '../../auth/wallet-signature.ts';
import { BoundedCache } from '../../common/bounded-cache.ts';
import { REFUSALS } from '../../common/refusals.ts';
import {
  bytesToWords,
  conditionToBytes,
  decimalToSafe,
  decimalToWords,
  sameBytes,
  uuidToWords,
  wordsToBytes,
} from '../../common/uint256.ts';
import type { OrderItem } from './order-parse.ts';
import type { Explanation } from './result-details.ts';
import type { SignatureDiagnosis } from './signature-diagnosis.ts';

export interface Caller {
  /** 4 words of the UUID, and 5 of the address. */
  readonly apiKey: Int32Array;
  readonly address: Int32Array;
  /** Seconds for which its orders wait at least where they would match; 0 = none. */
  readonly takerDelay: number;
  /** Terms of immediate fills of its orders; `undefined` = they are settled at once. */
  readonly settlement: SettlementTerms | undefined;
}

export interface PrepareOptions {
  readonly separators: OrderSeparators;
  readonly verifySignatures: boolean;
  readonly walletFactories: WalletFactories;
  readonly banned: Pick<BannedAddresses, 'has'>;
  /** Status (engine/tables/codes.ts) of an order that has left memory, by its id; 0 = no such order. */
  readonly knownStatus: (id: Uint8Array) => number;
}

/** Token ids, and condition ids, whose rows are cached. */
const TEXTS_MAX = 4_096;
const EOA = 0;
const CONTRACT_WALLET = 3;
const NEVER = Number.MAX_SAFE_INTEGER;

const fault = (detail: string): Explanation => ({ detail, facts: {} });
const FAULTS = {
  maker: fault('with signatureType 0 maker and signer are one wallet, or signer is an agent of it'),
  wallet: fault('maker is not the wallet of this signer for this signatureType'),
  contract: fault('signatures of contract wallets (signatureType 3) are not taken'),
  length: fault('a signature is 0x and 130 hexadecimal digits: r, s and v'),
  range: fault('no key makes such a signature: r, s or v is out of range'),
  walletVersion: fault('orders of version 1 are not signed with signatureType 3'),
  walletMaker: fault('with signatureType 3 maker and signer are one deposit wallet'),
  walletOwner: fault(
    'with signatureType 3 maker and signer are a deposit wallet of the address of the API key',
  ),
  session: {
    ...fault(
      'signatures of session keys (they end with 6492) are not taken: the owner of the wallet has to sign',
    ),
    profileText: REFUSALS.INVALID_SIGNATURE.texts[1],
  },
  walletLength: fault(
    'a signature of signatureType 3 is 0x and 634 hexadecimal digits, which are 317 bytes',
  ),
  typeLength: fault('bytes 315 and 316 of the signature must be 00ba: the length of the type'),
  orderType: fault('bytes 129 to 314 of the signature must be the type of the order as text'),
  separator: fault(
    'bytes 65 to 96 of the signature must be the separator of the domain of this order',
  ),
  contents: fault('bytes 97 to 128 of the signature must be the hash of the order as sent'),
} as const satisfies Readonly<Record<string, Explanation>> &
  Readonly<Record<WalletSignatureFault, Explanation>>;

export class OrderPreparer {
  /** Digest of the order prepared last: its id, 32 bytes. */
  readonly digest = new Uint8Array(32);
  /** Fault of the signature of the order prepared last; without a diagnosis only what has a text of a profile. */
  explanation: Explanation | undefined;
  private readonly tables: Tables;
  private readonly options: PrepareOptions;
  private diagnosis: SignatureDiagnosis | undefined;
  private readonly words = new Int32Array(8);
  private readonly recovered = new Uint8Array(20);
  private readonly condition = new Uint8Array(32);
  private readonly id = new Int32Array(8);
  private readonly maker = new Int32Array(ADDRESS_WORDS);
  private readonly signer = new Int32Array(ADDRESS_WORDS);
  private readonly owner = new Int32Array(API_KEY_WORDS);
  /** Address of the caller, where the signer is another one. */
  private readonly caller = new Uint8Array(20);

  private readonly wallets: Wallets;
  // To parse a number of 78 digits takes longer than the rest of a look-up. Rows are never removed.
  private readonly tokens = new BoundedCache(TEXTS_MAX, (id: string) => this.lookForToken(id));
  private readonly markets = new BoundedCache(TEXTS_MAX, (id: string) => this.lookForMarket(id));

  constructor(tables: Tables, options: PrepareOptions) {
    this.tables = tables;
    this.options = options;
    this.wallets = new Wallets(options.walletFactories);
  }

  /** @param diagnosis absent where results have no codes */
  prepare(
    item: OrderItem,
    caller: Caller,
    out: CommandBuffer,
    diagnosis: SignatureDiagnosis | undefined,
  ): void {
    this.explanation = undefined;
    this.diagnosis = diagnosis;
    const token = this.tokenOf(item.tokenId);
    let precheck = this.earlyReason(item, caller, token);
    const isBuy = item.side === 0;
    const shares = amountOf(isBuy ? item.takerAmount : item.makerAmount);
    const collateral = amountOf(isBuy ? item.makerAmount : item.takerAmount);
    if (isNotPositive(item.makerAmount) || isNotPositive(item.takerAmount)) {
      precheck |= PrecheckFlags.amounts;
    } else if (shares < 0 || collateral < 0) {
      precheck |= PrecheckFlags.tooLarge;
    }
    const fee = feeOf(item.feeRateBps);
    if (item.feeRateBps.startsWith('-')) precheck |= PrecheckFlags.feeNegative;
    else if (fee > FEE_BPS_MAX) precheck |= PrecheckFlags.feeTooHigh;
    assert(
      item.digestable || (precheck & (PrecheckFlags.amounts | PrecheckFlags.feeNegative)) !== 0,
      'an order without a digest is refused',
    );
    if (!item.taker.every((byte) => byte === 0)) precheck |= PrecheckFlags.taker;

    this.digest.fill(0);
    if (item.digestable && (precheck & PrecheckFlags.reasonMask) === 0) {
      // No early rule failed, so the token is known.
      precheck |= this.verify(item, caller, token as TokenRow);
    }
    const expiration = decimalToSafe(item.expiration);
    encodeOrder(out, {
      token,
      side: item.side,
      type: OrderType[item.orderType],
      postOnly: item.postOnly,
      shares: Math.max(0, shares) as MicroShares,
      collateral: Math.max(0, collateral) as MicroCollateral,
      expiration: expiration < 0 ? NEVER : expiration,
      feeRateBps: Math.min(Math.max(0, fee), FEE_BPS_MAX),
      signatureType: item.signatureType,
      precheck,
      id: bytesToWords(this.digest, this.id),
      maker: bytesToWords(item.maker, this.maker),
      // The owner of a deposit wallet; of every other order that is taken it is the signer.
      signer: caller.address,
      apiKey: caller.apiKey,
      delay: caller.takerDelay,
      settlement: caller.settlement,
    });
  }

  /** 0 = not registered. */
  tokenOf(tokenId: string): TokenRow | 0 {
    return this.tokens.get(tokenId) ?? 0;
  }

  private lookForToken(id: string): TokenRow | undefined {
    if (!decimalToWords(id, this.words, 0)) return undefined;
    return findToken(this.tables, this.words, 0) || undefined;
  }

  private lookForMarket(condition: string): MarketRow | undefined {
    if (!conditionToBytes(condition, this.condition)) return undefined;
    return findMarket(this.tables, bytesToWords(this.condition, this.words), 0) || undefined;
  }

  /** Returns the first failed rule that depends on the request alone, or 0. Registrations are never removed, so an answer found here stays true. */
  private earlyReason(item: OrderItem, caller: Caller, token: TokenRow | 0): number {
    if (!uuidToWords(item.owner, this.owner) || !sameWords(this.owner, caller.apiKey)) {
      return RejectReason.ownerMismatch;
    }
    if (!sameWords(bytesToWords(item.signer, this.signer), caller.address)) {
      const reason = this.foreignSigner(item, caller);
      if (reason !== 0) return reason;
    }
    const { banned } = this.options;
    const isBanned = banned.has(caller.address) || banned.has(bytesToWords(item.maker, this.maker));
    if (isBanned) return RejectReason.walletBanned;
    if (item.postOnly && item.orderType !== 'GTC' && item.orderType !== 'GTD') {
      return RejectReason.postOnlyType;
    }
    if (item.conditionId === undefined) return token === 0 ? RejectReason.tokenUnknown : 0;
    const market = this.markets.get(item.conditionId) ?? 0;
    if (market === 0) return RejectReason.conditionUnknown;
    if (token === 0) return RejectReason.tokenUnknown;
    const owner = tokenMarket(this.tables, token);
    return owner === market ? 0 : RejectReason.tokenOfOtherCondition;
  }

  /** Returns the reason against a signer that is not the caller's address; 0 for a deposit wallet of the caller. */
  private foreignSigner(item: OrderItem, caller: Caller): number {
    const { signatureType, signer, walletSignature } = item;
    if (signatureType !== CONTRACT_WALLET || !this.wallets.derives(signatureType)) {
      return RejectReason.ownerMismatch;
    }
    // A session key is not the owner, so nothing else of such an order can be right.
    if (isSessionSignature(walletSignature!)) {
      this.explain(FAULTS.session);
      return RejectReason.signature;
    }
    wordsToBytes(caller.address, this.caller);
    if (this.wallets.ownershipOf(signatureType, signer, this.caller) === 'derived') return 0;
    this.explain(FAULTS.walletOwner);
    return RejectReason.ownerMismatch;
  }

  private verify(item: OrderItem, caller: Caller, token: TokenRow): number {
    const { options, tables } = this;
    const market = tokenMarket(tables, token);
    const flags = marketFlags(tables, market);
    const isNegRisk = (flags & MarketFlag.negRisk) !== 0;
    const ofVersion = options.separators[item.domain]!;
    const separator = isNegRisk ? ofVersion.negRiskSeparator : ofVersion.separator;
    const contents = digestInVersion(separator, item, this.digest);
    let precheck = options.knownStatus(this.digest) << PrecheckFlags.knownShift;
    if (item.signatureType === EOA && !sameBytes(item.maker, item.signer)) {
      this.explain(FAULTS.maker);
      precheck |= PrecheckFlags.foreignWallet;
    } else if (item.signatureType === CONTRACT_WALLET && this.wallets.derives(item.signatureType)) {
      const isOwned = this.isOwned(item, caller, separator, contents);
      return precheck | (isOwned ? PrecheckFlags.derivedWallet : PrecheckFlags.signature);
    }
    const wallet = this.wallets.ownershipOf(item.signatureType, item.maker, item.signer);
    if (wallet === 'foreign') {
      this.explain(FAULTS.wallet);
      precheck |= PrecheckFlags.foreignWallet;
    }
    if (wallet === 'derived') precheck |= PrecheckFlags.derivedWallet;
    else if (!sameBytes(item.maker, item.signer) && this.isOwnerBanned())
      return precheck | RejectReason.walletBanned;
    if (!options.verifySignatures) return precheck;
    return this.isSigned(item, isNegRisk) ? precheck : precheck | PrecheckFlags.signature;
  }

  /** True where whoever signs for the maker is banned, whose agent the caller may be. */
  private isOwnerBanned(): boolean {
    const { accountI } = this.tables;
    const wallet = findAccount(this.tables, this.maker, 0);
    const owner = wallet === 0 ? 0 : walletSigner(this.tables, wallet);
    if (owner === 0) return false;
    const at = addressAt(owner);
    return this.options.banned.has(accountI.subarray(at, at + ADDRESS_WORDS));
  }

  /**
   * True when the caller owns the deposit wallet, and its key signed the order for it.
   *
   * @param contents absent in version 1
   */
  private isOwned(
    item: OrderItem,
    caller: Caller,
    separator: Uint8Array,
    contents: Uint8Array | undefined,
  ): boolean {
    const { maker, signer, walletSignature } = item;
    if (contents === undefined) return this.explain(FAULTS.walletVersion);
    if (!sameBytes(maker, signer)) return this.explain(FAULTS.walletMaker);
    // Any other signer is a deposit wallet of the caller: foreignSigner has refused the rest.
    if (sameWords(this.signer, caller.address)) return this.explain(FAULTS.walletOwner);
    const { separators, verifySignatures } = this.options;
    if (!verifySignatures) return true;
    const { chainId } = separators;
    const terms = { separator, chainId, contents, wallet: maker };
    const found = recoverOwner(walletSignature!, terms, this.recovered);
    if (found === undefined && sameBytes(this.recovered, this.caller)) return true;
    if (found === 'session') return this.explain(FAULTS.session);
    if (this.diagnosis !== undefined) this.explanation ??= this.ownerFault(item, found);
    return false;
  }

  private ownerFault(item: OrderItem, found: WalletSignatureFault | undefined): Explanation {
    if (found === 'separator') return this.separatorFault(item);
    if (found !== undefined) return FAULTS[found];
    const recovered = checksumAddress(this.recovered);
    const detail = `the signature is of ${recovered}, not of ${checksumAddress(this.caller)}, the owner of the wallet`;
    return { detail, facts: { recovered } };
  }

  /** Names the domain that the signature is for, if it is one of this node. */
  private separatorFault({ domain, walletSignature }: OrderItem): Explanation {
    const { separators } = this.options;
    const sent = separatorIn(walletSignature!);
    for (const version of [1, 2, 3] as const) {
      const of = separators[version];
      if (of === undefined) continue;
      const kind = [of.separator, of.negRiskSeparator].findIndex(
        (each) => Buffer.from(each).toString('hex') === sent,
      );
      if (kind < 0) continue;
      const markets = kind === 0 ? 'markets that are not neg-risk' : 'neg-risk markets';
      const fits = version === 3 ? 'domain version 3' : `domain version ${version} of ${markets}`;
      const detail = `${FAULTS.separator.detail}, version ${domain}; they would fit ${fits}`;
      return { detail, facts: { fits } };
    }
    return FAULTS.separator;
  }

  private isSigned(item: OrderItem, isNegRisk: boolean): boolean {
    const { signature } = item;
    if (item.signatureType === CONTRACT_WALLET) return this.explain(FAULTS.contract);
    if (signature === null) return this.explain(FAULTS.length);
    if (!recoverAddress(this.digest, signature, this.recovered, 0)) {
      return this.explain(FAULTS.range);
    }
    if (sameBytes(this.recovered, item.signer)) return true;
    const { diagnosis } = this;
    if (diagnosis !== undefined && this.explanation === undefined) {
      this.explanation = diagnosis.explain({ ...item, signature }, isNegRisk, this.recovered);
    }
    return false;
  }

  private explain(fault: Explanation): false {
    if (this.diagnosis !== undefined || fault.profileText !== undefined) this.explanation ??= fault;
    return false;
  }
}

/** Micro-units; -1 when above 2^53 - 1, 0 when not positive. */
function amountOf(text: string): number {
  return text.startsWith('-') ? 0 : decimalToSafe(text);
}

function isNotPositive(text: string): boolean {
  return text.startsWith('-') || text === '0';
}

function feeOf(text: string): number {
  if (text.startsWith('-')) return 0;
  const fee = decimalToSafe(text);
  return fee < 0 ? NEVER : fee;
}

function sameWords(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}
