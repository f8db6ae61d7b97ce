/**
 * Explanation of one order for POST /orders/explain: hash, domain, the address that signed, and a change with
 * which the signature would be right. The command is marked as a trial, so the engine finds the rule that
 * refuses it and changes nothing. Rules: docs/protocol.md#explaining-an-order
 *
 * Thread: a worker before its writer turn. Not here: the rules (prepare.ts, engine), the other domains
 * (signature-diagnosis.ts).
 */
import { type CommandBuffer, OrderCommand, OrderFlag } from '../../../engine/commands.ts';
import { marketFlags, tokenMarket } from '../../../engine/reads.ts';
import { MarketFlag } from '../../../engine/tables/codes.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import { checksumAddress } from '../../auth/checksum.ts';
import { digestInVersion } from '../../auth/eip712.ts';
import {
  contractOf,
  type ExchangeDomains,
  type OrderSeparators,
} from '../../auth/exchange-domains.ts';
import { recoverAddress } from '../../auth/secp256k1.ts';
import { recoverOwner } from '../../auth/wallet-signature.ts';
import { bytesToHex, sameBytes, wordsToBytes } from '../../common/uint256.ts';
import type { OrderItem } from './order-parse.ts';
import type { Caller, OrderPreparer } from './prepare.ts';
import type { Explanation } from './result-details.ts';
import type { SignatureDiagnosis } from './signature-diagnosis.ts';

export interface ExplainOptions {
  readonly separators: OrderSeparators;
  readonly domains: ExchangeDomains;
  /** Budget of the thread, which explanations share with refusals. */
  readonly diagnosis: SignatureDiagnosis;
}

/** Members of the answer that do not depend on the tables. */
export interface OrderFacts {
  /** '' where an amount is negative: such an order has no hash. */
  readonly orderID: string;
  readonly domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
    readonly verifyingContract: string;
  };
  readonly negRisk: boolean;
  readonly signatureType: number;
  readonly signature: SignatureFacts;
}

interface SignatureFacts {
  /** Address that signed the order as sent; '' where no key makes such a signature. */
  readonly recovered: string;
  readonly by: 'signer' | 'maker' | 'caller' | 'another key' | '';
  /** Change with which it would be the signer's, the maker's or the caller's; '' = none of `tried`. */
  readonly fits: string;
  readonly tried: readonly string[];
}

export interface ExplainedOrder {
  readonly facts: OrderFacts;
  /** Fault of the signature; `undefined` where it is right, or an earlier rule fails. */
  readonly explanation: Explanation | undefined;
}

const UNREADABLE: SignatureFacts = { recovered: '', by: '', fits: '', tried: [] };

export class OrderExplainer {
  private readonly tables: Tables;
  private readonly options: ExplainOptions;
  private readonly orders: OrderPreparer;
  private readonly digest = new Uint8Array(32);
  private readonly recovered = new Uint8Array(20);
  private readonly caller = new Uint8Array(20);

  constructor(tables: Tables, orders: OrderPreparer, options: ExplainOptions) {
    this.tables = tables;
    this.options = options;
    this.orders = orders;
  }

  /** @param now unix milliseconds of the batch */
  explain(item: OrderItem, caller: Caller, out: CommandBuffer, now: number): ExplainedOrder {
    const at = out.words;
    const { diagnosis, domains } = this.options;
    // All candidates are tried below: the refusal tries none.
    diagnosis.beginRequest(now, false);
    this.orders.prepare(item, caller, out, diagnosis);
    out.i32[at + OrderCommand.flags]! |= OrderFlag.trial;
    const { explanation } = this.orders;
    wordsToBytes(caller.address, this.caller);
    const isNegRisk = this.isNegRisk(item);
    const domain = domains[item.domain]!;
    const { chainId, name, version } = domain;
    const separator = this.separatorOf(item, isNegRisk);
    const contents = item.digestable ? digestInVersion(separator, item, this.digest) : undefined;
    const facts = {
      orderID: item.digestable ? bytesToHex(this.digest, 0, this.digest.length) : '',
      domain: { name, version, chainId, verifyingContract: contractOf(domain, isNegRisk) },
      negRisk: isNegRisk,
      signatureType: item.signatureType,
      signature: item.digestable ? this.signatureOf(item, isNegRisk, contents, now) : UNREADABLE,
    };
    return { facts, explanation };
  }

  /** False for an unknown token: the plain contract is assumed. */
  private isNegRisk({ tokenId }: OrderItem): boolean {
    const token = this.orders.tokenOf(tokenId);
    if (token === 0) return false;
    return (marketFlags(this.tables, tokenMarket(this.tables, token)) & MarketFlag.negRisk) !== 0;
  }

  private separatorOf({ domain }: OrderItem, isNegRisk: boolean): Uint8Array {
    const { negRiskSeparator, separator } = this.options.separators[domain]!;
    return isNegRisk ? negRiskSeparator : separator;
  }

  private signatureOf(
    item: OrderItem,
    isNegRisk: boolean,
    contents: Uint8Array | undefined,
    now: number,
  ): SignatureFacts {
    if (!this.recover(item, isNegRisk, contents)) return UNREADABLE;
    const recovered = checksumAddress(this.recovered);
    const by = this.roleOf(item);
    const isRight = item.walletSignature === undefined ? by === 'signer' : by === 'caller';
    const { signature } = item;
    if (isRight || signature === null) return { recovered, by, fits: '', tried: [] };
    const wanted = [item.signer, item.maker, this.caller];
    const survey = this.options.diagnosis.survey({ ...item, signature }, isNegRisk, wanted, now);
    return { recovered, by, ...survey };
  }

  private recover(item: OrderItem, isNegRisk: boolean, contents: Uint8Array | undefined): boolean {
    const { maker: wallet, signature, walletSignature } = item;
    if (signature !== null) return recoverAddress(this.digest, signature, this.recovered, 0);
    if (walletSignature === undefined || contents === undefined) return false;
    const { chainId } = this.options.separators;
    const separator = this.separatorOf(item, isNegRisk);
    const terms = { separator, chainId, contents, wallet };
    return recoverOwner(walletSignature, terms, this.recovered) === undefined;
  }

  private roleOf({ maker, signer }: OrderItem): SignatureFacts['by'] {
    if (sameBytes(this.recovered, signer)) return 'signer';
    if (sameBytes(this.recovered, maker)) return 'maker';
    return sameBytes(this.recovered, this.caller) ? 'caller' : 'another key';
  }
}
