/**
 * Frames of a market stream: the messages in each, and where they lie in the streams of the source.
 *
 * Pure.
 */
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import {
  DamagedMessage,
  readEvents,
  type SourceEvent,
} from '../../storage/recordings/source-message.ts';

/** Places compare as texts. */
interface SourcePlace {
  readonly stream: string;
  readonly sequence: string;
  readonly previous: string;
}

export interface SourceMessage {
  readonly place: SourcePlace | undefined;
  readonly events: readonly SourceEvent[];
}

/** What one frame says; of events that say nothing about levels, trades and terms, the place alone. */
export function readFrame(text: string): SourceMessage[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new DamagedMessage('it is no JSON');
  }
  const messages = (Array.isArray(json) ? json : [json]) as JsonObject[];
  return messages.map((message) => ({ events: readEvents(message), place: placeOf(message) }));
}

function placeOf({ previous, sequence, stream_id: stream }: JsonObject): SourcePlace | undefined {
  const isThere =
    typeof stream === 'string' && typeof sequence === 'string' && typeof previous === 'string';
  return isThere ? { stream, sequence, previous } : undefined;
}
