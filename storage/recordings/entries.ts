/**
 * What a recording of a venue consists of: a header, then entries in the order in which they were received.
 *
 * Thread: any.
 */
import type { JsonObject } from '../catalog/catalog-json.ts';

export const RECORDING_FORMAT = 'prediction-market-recording';
export const RECORDING_VERSION = 1;

export interface RecordingHeader {
  readonly format: typeof RECORDING_FORMAT;
  readonly version: number;
  /** Where it is from: the URL of a venue, or names of files. */
  readonly venue: string;
  /** Unix milliseconds. */
  readonly started: number;
  /** What was chosen: ids, slugs, `top:200`. */
  readonly markets: readonly string[];
  /** First tokens of the markets for which the venue sent no prints: trades are inferred (engine/paper). */
  readonly inferred: readonly string[];
}

/** `at`: unix milliseconds by the clock of the recorder, never decreasing (times.ts). */
export type RecordingEntry =
  /** An event with its markets, as a catalog API gives it: at the beginning, and again when it has changed. */
  | { readonly at: number; readonly kind: 'catalog'; readonly event: JsonObject }
  /** A message of the market channel, as it came (source-message.ts reads it). */
  | { readonly at: number; readonly kind: 'message'; readonly message: JsonObject }
  /** Messages between these two times were lost. Snapshots follow. */
  | { readonly at: number; readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** The recorder has ended in order. */
  | { readonly at: number; readonly kind: 'end' }
  /** An entry that cannot be read, in place of it: no file has this kind. */
  | { readonly at: number; readonly kind: 'damaged'; readonly why: string };

/** What recording and player cannot continue from; the message names the file and the place. */
export class RecordingDamaged extends Error {}
