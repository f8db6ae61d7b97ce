/**
 * JSON bodies of requests: measured, then parsed at once or in pieces.
 *
 * Thread: any. Where other requests wait for the thread, bodies are read with `readJson`.
 */

import { nextIteration } from './event-loop.ts';
import { type JsonBounds, JsonScan } from './json-measure.ts';
import { JsonPieces } from './json-pieces.ts';

/** Bodies up to this size are parsed without a pause: less than a millisecond each. */
const BYTES_AT_ONCE = 2 ** 16;
const VALUES_AT_ONCE = 2_048;
/** Bytes of a longer body that are measured in a time slice. */
const SCANNED_AT_ONCE = 2 ** 18;

/** In place of a value: the body is nested more deeply, or has more values, than allowed. */
export const TOO_MUCH = Symbol('more than a body may contain');

export const TOO_MUCH_DETAIL = 'the body is nested too deeply or holds too many values';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns false for a text that is nested more deeply, or has more values, than allowed. It need not be JSON. */
export function isWithin(text: Uint8Array, bounds: JsonBounds): boolean {
  return scanned(text, bounds).isWithin;
}

/** Undefined when the bytes are not UTF-8 or not JSON; JSON itself has no undefined. */
export function parseJson(body: Uint8Array, bounds: JsonBounds): unknown {
  return isWithin(body, bounds) ? parseWhole(body) : TOO_MUCH;
}

/** The number of elements of the outermost array of a body, also of one that holds too much. */
export function countItems(body: Uint8Array): number {
  return scanned(body, { depth: body.length, values: 2 * body.length }).items;
}

interface BodyRequest {
  readonly body: Uint8Array;
  readonly aborted: boolean;
}

/**
 * Calls `use` with the result of parseJson: for a short body within this call, for a long one after several
 * iterations of the event loop. After a disconnect nothing more is done.
 */
export function readJson(
  request: BodyRequest,
  bounds: JsonBounds,
  use: (sent: unknown) => void | Promise<void>,
): void | Promise<void> {
  const { body } = request;
  if (body.length > BYTES_AT_ONCE) return readLater(request, bounds, use);
  const scan = scanned(body, bounds);
  if (!scan.isWithin) return use(TOO_MUCH);
  if (scan.values > VALUES_AT_ONCE) return readInPieces(request, use);
  return use(parseWhole(body));
}

/** Measures in iterations of its own: the check of the credentials has taken time in this one. */
async function readLater(
  request: BodyRequest,
  bounds: JsonBounds,
  use: (sent: unknown) => void | Promise<void>,
): Promise<void> {
  const scan = new JsonScan(request.body, bounds);
  do {
    await nextIteration();
    if (request.aborted) return;
  } while (scan.step(SCANNED_AT_ONCE));
  return scan.isWithin ? readInPieces(request, use) : use(TOO_MUCH);
}

async function readInPieces(
  request: BodyRequest,
  use: (sent: unknown) => void | Promise<void>,
): Promise<void> {
  const pieces = new JsonPieces(request.body);
  let state: boolean | undefined;
  do {
    await nextIteration();
    if (request.aborted) return;
    state = step(pieces);
  } while (state === true);
  await nextIteration();
  if (!request.aborted) return use(state === false ? pieces.value : undefined);
}

function step(pieces: JsonPieces): boolean | undefined {
  try {
    return pieces.step();
  } catch {
    return undefined;
  }
}

function scanned(body: Uint8Array, bounds: JsonBounds): JsonScan {
  const scan = new JsonScan(body, bounds);
  scan.step(body.length);
  return scan;
}

function parseWhole(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}
