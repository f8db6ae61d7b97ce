/**
 * Joins rendered objects to a JSON array, in a buffer that is reused.
 *
 * Thread: I/O; one answer at a time. Non-goals: rendering.
 */

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;

/** The size up to which the buffer is kept; a larger answer gets a buffer of its own. */
const REUSED_BYTES_MAX = 4 * 2 ** 20;
const REUSED_BYTES_FIRST = 64 * 2 ** 10;

let reused = new Uint8Array(REUSED_BYTES_FIRST);

/** `[part,part,..]` of the first `count` parts. The bytes are valid until the next call. */
export function joined(parts: readonly Uint8Array[], count: number): Uint8Array {
  let length = count === 0 ? 2 : count + 1;
  for (let i = 0; i < count; i++) length += parts[i]!.length;
  let out = reused;
  if (length > out.length) {
    out = new Uint8Array(Math.max(length, Math.min(2 * length, REUSED_BYTES_MAX)));
    if (out.length <= REUSED_BYTES_MAX) reused = out;
  }
  out[0] = OPEN;
  let at = 1;
  for (let i = 0; i < count; i++) {
    const part = parts[i]!;
    out.set(part, at);
    at += part.length;
    out[at++] = COMMA;
  }
  // The closing bracket replaces the last comma.
  out[length - 1] = CLOSE;
  return new Uint8Array(out.buffer, 0, length);
}
