import type { MarketMessage } from '../../engine/paper/messages.ts';

export type RecordedLine =
  | { readonly kind: 'catalog'; readonly at: number; readonly event: unknown }
  | { readonly kind: 'message'; readonly at: number; readonly message: MarketMessage }
  | { readonly kind: 'gap'; readonly at: number };

export type Recording = string | AsyncIterable<RecordedLine> | Iterable<RecordedLine>;

export async function recordedLines(recording: Recording) {
  if (typeof recording === 'string') throw new Error('not yet');
  return { infersTrades: false, lines: recording };
}
