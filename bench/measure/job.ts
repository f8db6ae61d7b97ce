/**
 * Messages to and from a sending process: plain values that travel between processes.
 * Thread: any.
 */
import type { ApiKey } from '../../client/credentials.ts';
import type { Share } from './arrivals.ts';
import type { MeasureOptions } from './measure-options.ts';

/** The configuration that signing needs (server/config/config.ts). */
export interface Signing {
  readonly credentialPrefix: string;
  readonly chainId: number;
  readonly domainName: string;
  readonly domainVersion: string;
  readonly exchangeAddress: string;
  readonly negRiskExchangeAddress: string;
}

/** Those of a whole configuration, which holds more than can be sent to a process. */
export function signingOf(config: Signing): Signing {
  return {
    credentialPrefix: config.credentialPrefix,
    chainId: config.chainId,
    domainName: config.domainName,
    domainVersion: config.domainVersion,
    exchangeAddress: config.exchangeAddress,
    negRiskExchangeAddress: config.negRiskExchangeAddress,
  };
}

export interface Job {
  readonly options: Omit<MeasureOptions, 'url'>;
  readonly url: string;
  readonly signing: Signing;
  readonly share: Share;
  /** Keys of the process's own wallets. Wallets are dealt to processes one after another. */
  readonly keys: readonly ApiKey[];
}

export type ToChild =
  | { readonly kind: 'prepare'; readonly job: Job }
  /** On the monotonic clock of the machine. */
  | { readonly kind: 'go'; readonly startMs: number };

export type FromChild =
  /** Requests signed so far. */
  | { readonly kind: 'signed'; readonly requests: number }
  | { readonly kind: 'ready' }
  /** Rows of samples.ts, and how many requests wait for a free connection. */
  | { readonly kind: 'samples'; readonly rows: Float64Array; readonly waiting: number }
  | { readonly kind: 'done'; readonly outcomes: ReadonlyMap<string, number> }
  | { readonly kind: 'failed'; readonly problem: string };

/** The text from which wallet `index` of a run comes; the makers' is one more than the last. */
export function walletSeed(
  { seed, run }: Pick<MeasureOptions, 'seed' | 'run'>,
  index: number,
): string {
  return `measure/${seed}/${run}/${index}`;
}
