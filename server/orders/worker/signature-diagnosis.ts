/**
 * Diagnosis of wrong order signatures: the address that signed, and the other chain, contract, type or
 * version with which the signature would be the signer's. The check itself finds the address. The rest costs
 * at most two further recoveries for a request, from a budget of each wallet and of this thread, so nobody
 * can use up the time of others. Rules: docs/protocol.md#wrong-signatures
 *
 * Thread: a worker before its writer turn. Not here: validity of the signature (prepare.ts).
 */

import { checksumAddress } from '../../auth/checksum.ts';
import {
  digestInVersion,
  domainSeparator,
  type SignedFields,
  type SignedFields2,
  type SigningDomain,
} from '../../auth/eip712.ts';
import {
  contractOf,
  type DomainVersion,
  type ExchangeDomain,
  type ExchangeDomains,
  publishedContract3,
} from '../../auth/exchange-domains.ts';
import { recoverAddress } from '../../auth/secp256k1.ts';
import { sameBytes } from '../../common/uint256.ts';
import type { Explanation } from './result-details.ts';

export interface DiagnosisOptions {
  readonly domains: ExchangeDomains;
  /** Domains of version 1 that published clients sign for; that of this node may be among them. */
  readonly published: readonly ExchangeDomain[];
  /** Threads that share the budget of the node. */
  readonly workers: number;
}

export interface SuspectOrder extends SignedFields {
  readonly version2: SignedFields2 | undefined;
  readonly domain: DomainVersion;
  readonly signature: Uint8Array;
}

/** Order that the client may have signed in place of the accepted one. */
interface Candidate {
  readonly text: string;
  readonly separator: Uint8Array;
  readonly signatureType?: number;
}

/** Most recoveries for a request; in a long one only the first part has them. */
const RECOVERIES = 2;
/** Consecutive requests of one wallet, then one each second. */
const WALLET_BURST = 8;
const WALLET_REFILL_MS = 1_000;
/** Most requests of all wallets in a second: some 3 ms of processors. */
const NODE_PER_SECOND = 20;
const WALLETS_MAX = 1_024;
const CHAINS = [137, 80_002, 31_337, 1];
const TYPES = [0, 1, 2, 3];
const MS = 1_000;

interface Wallet {
  requests: number;
  since: number;
  /** Index of the first candidate for the next request of the wallet. */
  next: number;
}

export class SignatureDiagnosis {
  private recoveries = 0;
  private readonly candidates = new Map<string, readonly Candidate[]>();
  private readonly options: DiagnosisOptions;
  private readonly wallets = new Map<string, Wallet>();
  private readonly digest = new Uint8Array(32);
  private readonly recovered = new Uint8Array(20);
  private readonly perSecond: number;
  private tokens: number;
  private filledAt = 0;
  private now = 0;
  private isSpent = true;

  constructor(options: DiagnosisOptions) {
    this.options = options;
    this.perSecond = Math.max(1, NODE_PER_SECOND / options.workers);
    this.tokens = this.perSecond;
  }

  takeRecoveries(): number {
    const { recoveries } = this;
    this.recoveries = 0;
    return recoveries;
  }

  /**
   * @param now unix milliseconds of the batch
   * @param isFirst false for a later part of a request
   */
  beginRequest(now: number, isFirst: boolean): void {
    this.now = now;
    this.isSpent = !isFirst;
  }

  /** @param recovered address that made the signature, 20 bytes; not the signer */
  explain(order: SuspectOrder, isNegRisk: boolean, recovered: Uint8Array): Explanation {
    const of = checksumAddress(recovered);
    const signer = checksumAddress(order.signer);
    const whose = `as sent the signature is of ${of}, not of ${signer}`;
    const facts = { recovered: of };
    if (sameBytes(recovered, order.maker)) {
      return { detail: `${whose}: it is the maker's, and signer must have made it`, facts };
    }
    const found = this.looked(order, isNegRisk);
    if (found === undefined) return { detail: whose, facts };
    if (found.fits === undefined) {
      return {
        detail: `${whose}; it would not fit ${found.tried.join(', nor ')}; the next refusal tries others`,
        facts,
      };
    }
    const { fits } = found;
    return { detail: `${whose}; it would fit ${fits}`, facts: { ...facts, fits } };
  }

  /** Returns the candidates that were tried, and the one that fits; `undefined` when the budget is spent. */
  private looked(
    order: SuspectOrder,
    isNegRisk: boolean,
  ): { readonly fits: string | undefined; readonly tried: readonly string[] } | undefined {
    if (this.isSpent) return undefined;
    this.isSpent = true;
    const wallet = this.walletOf(order.signer);
    if (wallet === undefined || !this.takeToken()) return undefined;
    const candidates = this.candidatesOf(order, isNegRisk);
    const tried: string[] = [];
    for (let i = 0; i < Math.min(RECOVERIES, candidates.length); i++) {
      const candidate = candidates[(wallet.next + i) % candidates.length]!;
      if (this.fits(order, candidate)) {
        // The next mistake is more likely a common one.
        wallet.next = 0;
        return { fits: candidate.text, tried };
      }
      tried.push(candidate.text);
    }
    wallet.next = (wallet.next + RECOVERIES) % candidates.length;
    return { fits: undefined, tried };
  }

  /**
   * Tries every candidate until the signature is one of `wanted`. Empty where the budget of the thread is
   * spent.
   *
   * @param now unix milliseconds of the batch
   */
  survey(
    order: SuspectOrder,
    isNegRisk: boolean,
    wanted: readonly Uint8Array[],
    now: number,
  ): { readonly fits: string; readonly tried: readonly string[] } {
    this.now = now;
    const tried: string[] = [];
    if (!this.takeToken()) return { fits: '', tried };
    for (const candidate of this.candidatesOf(order, isNegRisk)) {
      tried.push(candidate.text);
      const isRecovered = this.recover(order, candidate);
      if (isRecovered && wanted.some((address) => sameBytes(this.recovered, address))) {
        return { fits: candidate.text, tried };
      }
    }
    return { fits: '', tried };
  }

  private fits(order: SuspectOrder, candidate: Candidate): boolean {
    return this.recover(order, candidate) && sameBytes(this.recovered, order.signer);
  }

  private recover(order: SuspectOrder, { separator, signatureType }: Candidate): boolean {
    const signed = signatureType === undefined ? order : { ...order, signatureType };
    digestInVersion(separator, signed, this.digest);
    this.recoveries += 1;
    return recoverAddress(this.digest, order.signature, this.recovered, 0);
  }

  private walletOf(address: Uint8Array): Wallet | undefined {
    const key = Buffer.from(address).toString('latin1');
    const known = this.wallets.get(key);
    const wallet = known ?? { requests: 0, since: this.now, next: 0 };
    const refilled = Math.floor((this.now - wallet.since) / WALLET_REFILL_MS);
    if (refilled > 0) {
      wallet.requests = Math.max(0, wallet.requests - refilled);
      wallet.since += refilled * WALLET_REFILL_MS;
    }
    if (wallet.requests >= WALLET_BURST) return undefined;
    wallet.requests += 1;
    if (known === undefined) {
      if (this.wallets.size >= WALLETS_MAX) this.wallets.delete(this.wallets.keys().next().value!);
      this.wallets.set(key, wallet);
    }
    return wallet;
  }

  private takeToken(): boolean {
    const passed = Math.max(0, this.now - this.filledAt);
    this.tokens = Math.min(this.perSecond, this.tokens + (passed * this.perSecond) / MS);
    this.filledAt = this.now;
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  /** The likeliest first: two are tried at once. */
  private candidatesOf(order: SuspectOrder, isNegRisk: boolean): readonly Candidate[] {
    const { domain, signatureType } = order;
    const key = `${domain} ${isNegRisk} ${signatureType}`;
    const known = this.candidates.get(key);
    if (known !== undefined) return known;
    const made =
      domain === 3
        ? this.listedOf3(isNegRisk, signatureType)
        : this.listed(domain, isNegRisk, signatureType);
    this.candidates.set(key, made);
    return made;
  }

  /** Version 3 has one contract, and the fields of version 2. */
  private listedOf3(isNegRisk: boolean, signatureType: number): Candidate[] {
    const { domains } = this.options;
    const own = domains[3]!;
    const second = (isRisk: boolean): Candidate => atContract(domains[2], isRisk);
    const isPublished = own.contract === publishedContract3(own.chainId);
    const chains = CHAINS.filter((chain) => chain !== own.chainId).map((chainId) => {
      const verifyingContract = isPublished ? publishedContract3(chainId) : own.contract;
      return inDomain(`chain id ${chainId}`, { ...own, chainId, verifyingContract });
    });
    const [chain, ...otherChains] = chains;
    const types = otherTypes(signatureType, { ...own, verifyingContract: own.contract });
    return [second(isNegRisk), chain!, second(!isNegRisk), ...types, ...otherChains];
  }

  private listed(version: 1 | 2, isNegRisk: boolean, signatureType: number): Candidate[] {
    const own = this.options.domains[version];
    const contract = contractOf(own, isNegRisk);
    const chains = CHAINS.filter((chain) => chain !== own.chainId).map((chainId) =>
      inDomain(`chain id ${chainId}`, { ...own, chainId, verifyingContract: contract }),
    );
    const otherContract = contractOf(own, !isNegRisk);
    const kind = isNegRisk ? 'markets that are not neg-risk' : 'neg-risk markets';
    const types = otherTypes(signatureType, { ...own, verifyingContract: contract });
    const otherVersion = version === 1 ? '2' : '1';
    const { 3: third, [version === 1 ? 2 : 1]: ofOther } = this.options.domains;
    const versions = [
      inDomain(`domain version ${otherVersion}`, {
        ...own,
        version: otherVersion,
        verifyingContract: contract,
      }),
      atContract(ofOther, isNegRisk),
      ...(third === undefined ? [] : [atContract(third, isNegRisk)]),
    ];
    const others = this.options.published.filter(({ contract: at }) => at !== own.contract);
    const published = others.flatMap((domain) =>
      [isNegRisk, !isNegRisk].map((risk) => {
        const address = contractOf(domain, risk);
        return inDomain(`${domain.name} at ${address} on chain id ${domain.chainId}`, {
          ...domain,
          verifyingContract: address,
        });
      }),
    );
    const [chain, ...otherChains] = chains;
    return [
      inDomain(`the contract of ${kind}, ${otherContract}`, {
        ...own,
        verifyingContract: otherContract,
      }),
      chain!,
      versions[0]!,
      ...types,
      ...versions.slice(1),
      ...published.slice(0, 2),
      ...otherChains,
      ...published.slice(2),
    ];
  }
}

function inDomain(text: string, domain: SigningDomain): Candidate {
  return { text, separator: domainSeparator(domain) };
}

function atContract(domain: ExchangeDomain, isNegRisk: boolean): Candidate {
  const contract = contractOf(domain, isNegRisk);
  const text = `domain version ${domain.version} at ${contract}`;
  return inDomain(text, { ...domain, verifyingContract: contract });
}

function otherTypes(signatureType: number, domain: SigningDomain): Candidate[] {
  const separator = domainSeparator(domain);
  return TYPES.filter((type) => type !== signatureType).map((type) => ({
    text: `signatureType ${type}`,
    separator,
    signatureType: type,
  }));
}
