/**
 * Content of a recording: a header, then entries in the order of their receipt.
 *
 * Thread: any.
 */
import type { JsonObject } from '../catalog/catalog-json.ts';

export const RECORDING_FORMAT = 'prediction-market-recording';
export const RECORDING_VERSION = 1;

export interface RecordingHeader {
  readonly format: typeof RECORDING_FORMAT;
  readonly version: number;
  /** Origin: the URL of a source, or names of files. */
  readonly venue: string;
  /** Unix milliseconds. */
  readonly started: number;
  /** Choice of markets: ids, slugs, `top:200`. */
  readonly markets: readonly string[];
  /** First tokens of the markets without trade prints; their trades are inferred (engine/paper). */
  readonly inferred: readonly string[];
}

/** `at`: unix milliseconds by the clock of the recorder, never decreasing (times.ts). */
export type RecordingEntry =
  /** A catalog event with its markets, at the beginning and after each change. */
  | { readonly at: number; readonly kind: 'catalog'; readonly event: JsonObject }
  /** A message of the market channel, unchanged (source-message.ts reads it). */
  | { readonly at: number; readonly kind: 'message'; readonly message: JsonObject }
  /** Messages between these two times were lost. Snapshots follow. */
  | { readonly at: number; readonly kind: 'gap'; readonly from: number; readonly to: number }
  | { readonly at: number; readonly kind: 'end' }
  /** Replaces an unreadable entry. No file has this kind. */
  | { readonly at: number; readonly kind: 'damaged'; readonly why: string };

/** Damage that ends reading; the message names the file and the position. */
export class RecordingDamaged extends Error {}
