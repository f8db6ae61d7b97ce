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
} from '../../../engine/commands.ts';
import { findMarket, findToken } from '../../../engine/markets/markets.ts';
import { RejectReason } from '../../../engine/orders/reject-reasons.ts';
import { marketFlags, tokenMarket } from '../../../engine/reads.ts';
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
import { order2Digest, orderDigest } from '../../auth/eip712.ts';
import type { OrderSeparators } from '../../auth/exchange-domains.ts';
import { recoverAddress } from '../../auth/secp256k1.ts';
import { type WalletFactories, Wallets } from '../../auth/wallet-factory.ts';
import { BoundedCache } from '../../common/bounded-cache.ts';
import {
  bytesToWords,
  decimalToSafe,
  decimalToWords,
  hexToBytes,
  sameBytes,
  uuidToWords,
} from '../../common/uint256.ts';
import type { OrderItem } from './order-parse.ts';
import type { Explanation } from './result-details.ts';
import type { SignatureDiagnosis } from './signature-diagnosis.ts';

/** Sender of the request, from the level-2 check. */
export interface Caller {
  /** 4 words of the UUID, and 5 of the address. */
  readonly apiKey: Int32Array;
  readonly address: Int32Array;
}

export interface PrepareOptions {
  readonly separators: OrderSeparators;
  readonly verifySignatures: boolean;
  readonly walletFactories: WalletFactories;
  readonly banned: Pick<BannedAddresses, 'has'>;
  /** Status (engine/tables/codes.ts) of an order that has left memory, by its id; 0 = no such order. */
  readonly knownStatus: (id: Uint8Array) => number;
  /** `undefined`: wrong signatures are not explained. */
  readonly diagnosis?: SignatureDiagnosis | undefined;
}

/** Token ids, and condition ids, whose rows are cached. */
const TEXTS_MAX = 4_096;
const EOA = 0;
const CONTRACT_WALLET = 3;
const NEVER = Number.MAX_SAFE_INTEGER;

const fault = (detail: string): Explanation => ({ detail, facts: {} });
/** Faults of signatures that need no diagnosis. */
const FAULTS = {
  maker: fault('with signatureType 0 maker and signer are one wallet'),
  wallet: fault('maker is not the wallet of this signer for this signatureType'),
  contract: fault('signatures of contract wallets (signatureType 3) are not taken'),
  length: fault('a signature is 0x and 130 hexadecimal digits: r, s and v'),
  range: fault('no key makes such a signature: r, s or v is out of range'),
} as const;

export class OrderPreparer {
  /** Digest of the order prepared last: its id, 32 bytes. */
  readonly digest = new Uint8Array(32);
  /** Fault of the signature of the order prepared last, where results have codes. */
  explanation: Explanation | undefined;
  private readonly tables: Tables;
  private readonly options: PrepareOptions;
  private readonly words = new Int32Array(8);
  private readonly recovered = new Uint8Array(20);
  private readonly condition = new Uint8Array(32);
  private readonly id = new Int32Array(8);
  private readonly maker = new Int32Array(ADDRESS_WORDS);
  private readonly signer = new Int32Array(ADDRESS_WORDS);
  private readonly owner = new Int32Array(API_KEY_WORDS);

  private readonly wallets: Wallets;
  // To parse a number of 78 digits takes longer than the rest of a look-up. Rows are never removed.
  private readonly tokens = new BoundedCache(TEXTS_MAX, (id: string) => this.lookForToken(id));
  private readonly markets = new BoundedCache(TEXTS_MAX, (id: string) => this.lookForMarket(id));

  constructor(tables: Tables, options: PrepareOptions) {
    this.tables = tables;
    this.options = options;
    this.wallets = new Wallets(options.walletFactories);
  }

  prepare(item: OrderItem, caller: Caller, out: CommandBuffer): void {
    const token = this.tokens.get(item.tokenId) ?? 0;
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
    this.explanation = undefined;
    if (item.digestable && (precheck & PrecheckFlags.reasonMask) === 0) {
      // No early rule failed, so the token is known.
      precheck |= this.verify(item, token as TokenRow);
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
      signer: bytesToWords(item.signer, this.signer),
      apiKey: caller.apiKey,
    });
  }

  private lookForToken(id: string): TokenRow | undefined {
    if (!decimalToWords(id, this.words, 0)) return undefined;
    return findToken(this.tables, this.words, 0) || undefined;
  }

  private lookForMarket(condition: string): MarketRow | undefined {
    if (!hexToBytes(condition, 32, this.condition, 0)) return undefined;
    return findMarket(this.tables, bytesToWords(this.condition, this.words), 0) || undefined;
  }

  /** Returns rule 1 to 4, or 0. Registrations are never removed, so an answer found here stays true. */
  private earlyReason(item: OrderItem, caller: Caller, token: TokenRow | 0): number {
    const isCaller =
      uuidToWords(item.owner, this.owner) &&
      sameWords(this.owner, caller.apiKey) &&
      sameWords(bytesToWords(item.signer, this.signer), caller.address);
    if (!isCaller) return RejectReason.ownerMismatch;
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

  private verify(item: OrderItem, token: TokenRow): number {
    const { options, tables } = this;
    const market = tokenMarket(tables, token);
    const flags = marketFlags(tables, market);
    const isNegRisk = (flags & MarketFlag.negRisk) !== 0;
    const ofVersion = options.separators[item.version2 === undefined ? 1 : 2];
    const separator = isNegRisk ? ofVersion.negRiskSeparator : ofVersion.separator;
    if (item.version2 === undefined) orderDigest(separator, item, this.digest, 0);
    else order2Digest(separator, item, item.version2, this.digest, 0);
    let precheck = options.knownStatus(this.digest) << PrecheckFlags.knownShift;
    if (item.signatureType === EOA && !sameBytes(item.maker, item.signer)) {
      this.explain(FAULTS.maker);
      precheck |= PrecheckFlags.signature;
    }
    const wallet = this.wallets.ownershipOf(item.signatureType, item.maker, item.signer);
    if (wallet === 'foreign') {
      this.explain(FAULTS.wallet);
      return precheck | PrecheckFlags.signature;
    }
    if (wallet === 'derived') precheck |= PrecheckFlags.derivedWallet;
    if (!options.verifySignatures) return precheck;
    return this.isSigned(item, isNegRisk) ? precheck : precheck | PrecheckFlags.signature;
  }

  private isSigned(item: OrderItem, isNegRisk: boolean): boolean {
    const { signature } = item;
    if (item.signatureType === CONTRACT_WALLET) return this.explain(FAULTS.contract);
    if (signature === null) return this.explain(FAULTS.length);
    if (!recoverAddress(this.digest, signature, this.recovered, 0)) {
      return this.explain(FAULTS.range);
    }
    if (sameBytes(this.recovered, item.signer)) return true;
    const { diagnosis } = this.options;
    if (diagnosis !== undefined && this.explanation === undefined) {
      this.explanation = diagnosis.explain({ ...item, signature }, isNegRisk, this.recovered);
    }
    return false;
  }

  /** Keeps the first fault only. */
  private explain(fault: Explanation): false {
    if (this.options.diagnosis !== undefined) this.explanation ??= fault;
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
