/**
 * Signing domains of exchange contracts: of this node, and those that published clients sign for.
 * Rules: docs/protocol.md#signing-domains
 *
 * Pure; any thread.
 */
import { domainSeparator, type SigningDomain } from './eip712.ts';

export interface ExchangeDomain extends Omit<SigningDomain, 'verifyingContract'> {
  readonly contract: string;
  readonly negRiskContract: string;
}

export interface ExchangeDomains {
  readonly 1: ExchangeDomain;
  readonly 2: ExchangeDomain;
  /** `undefined`: orders of positions are not told apart. */
  readonly 3: ExchangeDomain | undefined;
}

export type DomainVersion = keyof ExchangeDomains;

/** Domain separators of the two exchange contracts, 32 bytes each. */
export interface Separators {
  readonly separator: Uint8Array;
  readonly negRiskSeparator: Uint8Array;
}

export interface OrderSeparators {
  readonly 1: Separators;
  readonly 2: Separators;
  readonly 3: Separators | undefined;
  readonly chainId: number;
}

const PUBLISHED_CHAIN = 137;
/** Domains of version 1 that clients of the two services sign for by default. */
export const PUBLISHED_DOMAINS = {
  spec: {
    name: 'CTF Exchange',
    version: '1',
    chainId: PUBLISHED_CHAIN,
    contract: '0xB5592f7CccA122558D2201e190826276f3a661cb',
    negRiskContract: '0xef02d1Ea5B42432C4E99C2785d1a4020d2FB24F5',
  },
  polymarket: {
    name: 'Polymarket CTF Exchange',
    version: '1',
    chainId: PUBLISHED_CHAIN,
    contract: '0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E',
    negRiskContract: '0xC5d563A36AE78145C45a50134d48A1215220f80a',
  },
} as const satisfies Record<string, ExchangeDomain>;

/** Contracts of version 3 that published clients sign for, by chain id. */
const PUBLISHED_CONTRACTS_3: Readonly<Record<number, string>> = {
  [PUBLISHED_CHAIN]: '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa',
  80002: '0x9fE6e61422AdB6F610d8597F9684b16912D50C3D',
};

/** Returns the contract of version 3 of a chain; a chain without one has that of chain 137. */
export function publishedContract3(chainId: number): string {
  return PUBLISHED_CONTRACTS_3[chainId] ?? PUBLISHED_CONTRACTS_3[PUBLISHED_CHAIN]!;
}

export function contractOf(
  { contract, negRiskContract }: ExchangeDomain,
  isNegRisk: boolean,
): string {
  return isNegRisk ? negRiskContract : contract;
}

export function separatorsOf(domains: ExchangeDomains): OrderSeparators {
  return {
    1: ofVersion(domains[1]),
    2: ofVersion(domains[2]),
    3: domains[3] && ofVersion(domains[3]),
    chainId: domains[1].chainId,
  };
}

function ofVersion(domain: ExchangeDomain): Separators {
  const of = (isNegRisk: boolean): Uint8Array =>
    domainSeparator({ ...domain, verifyingContract: contractOf(domain, isNegRisk) });
  return { separator: of(false), negRiskSeparator: of(true) };
}
