/**
 * Frames of a market stream: their messages and their stream cursors.
 *
 * Pure.
 */
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import {
  DamagedMessage,
  readEvents,
  type SourceEvent,
} from '../../storage/recordings/source-message.ts';

/** Stream cursor. Sequences compare as texts. */
interface SourcePlace {
  readonly stream: string;
  readonly sequence: string;
  readonly previous: string;
}

export interface SourceMessage {
  readonly place: SourcePlace | undefined;
  readonly events: readonly SourceEvent[];
}

/** Returns the messages of a frame. An event without levels, trades or terms has only its cursor. */
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
