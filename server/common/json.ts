/**
 * JSON bodies as they arrive: measured, then parsed at once or in pieces.
 *
 * Thread: any; where others wait for the thread, bodies are read with `readJson`.
 */
import { type JsonBounds, type JsonMeasure, measureJson } from './json-measure.ts';
import { JsonPieces } from './json-pieces.ts';
import { nextTurn } from './next-turn.ts';

/** Parsed without a pause, whatever they hold: less than a millisecond each. */
const BYTES_AT_ONCE = 2 ** 16;
const VALUES_AT_ONCE = 2_048;

/** In place of a value: the body goes deeper, or holds more, than its route allows for. */
export const TOO_MUCH = Symbol('more than a body may hold');

/** For the person who has to mend such a body. */
export const TOO_MUCH_DETAIL = 'the body is nested too deeply or holds too many values';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const measure: JsonMeasure = { depth: 0, values: 0, items: 0 };

/** Undefined for bytes that are not UTF-8 or not JSON; JSON itself has no undefined. */
export function parseJson(body: Uint8Array, bounds: JsonBounds): unknown {
  return isWithin(body, bounds) ? parseWhole(body) : TOO_MUCH;
}

/** Elements of the outermost array of the body that was parsed, or refused, last. */
export function itemsMeasured(): number {
  return measure.items;
}

/** A request with a body. */
interface Asking {
  readonly body: Uint8Array;
  /** Nobody waits for the answer any more. */
  readonly aborted: boolean;
}

/**
 * Gives the value of a body to `use`, as parseJson has it: within this call or, where the body is long, after
 * some turns of the event loop, in which others are served. Nothing is done for a caller who is gone.
 */
export function readJson(
  asking: Asking,
  bounds: JsonBounds,
  use: (sent: unknown) => void | Promise<void>,
): void | Promise<void> {
  const { body } = asking;
  if (body.length > BYTES_AT_ONCE) return readLater(asking, bounds, use);
  if (!isWithin(body, bounds)) return use(TOO_MUCH);
  if (measure.values > VALUES_AT_ONCE) return readInPieces(asking, use);
  return use(parseWhole(body));
}

/** A turn for measuring: the credentials of its caller have taken their time before it. */
async function readLater(
  asking: Asking,
  bounds: JsonBounds,
  use: (sent: unknown) => void | Promise<void>,
): Promise<void> {
  await nextTurn();
  if (asking.aborted) return;
  return isWithin(asking.body, bounds) ? readInPieces(asking, use) : use(TOO_MUCH);
}

async function readInPieces(
  asking: Asking,
  use: (sent: unknown) => void | Promise<void>,
): Promise<void> {
  const pieces = new JsonPieces(asking.body);
  let state: boolean | undefined;
  do {
    await nextTurn();
    if (asking.aborted) return;
    state = step(pieces);
  } while (state === true);
  await nextTurn();
  if (!asking.aborted) return use(state === false ? pieces.value : undefined);
}

/** Undefined where it is no JSON. */
function step(pieces: JsonPieces): boolean | undefined {
  try {
    return pieces.step();
  } catch {
    return undefined;
  }
}

function isWithin(body: Uint8Array, bounds: JsonBounds): boolean {
  measureJson(body, measure);
  return measure.depth <= bounds.depth && measure.values <= bounds.values;
}

function parseWhole(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}
