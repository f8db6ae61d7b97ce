/** Bytes in chunks of one size, for rows, files and messages. Pure; any thread. */

/** Yields the bytes of pieces in chunks of `size`, a shorter one last, each in a buffer of its own. */
export function* chunksOf(pieces: Iterable<Uint8Array>, size: number): Generator<Buffer> {
  let chunk = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of pieces) {
    for (let taken = 0; taken < piece.length; ) {
      const part = piece.subarray(taken, taken + size - at);
      chunk.set(part, at);
      at += part.length;
      taken += part.length;
      if (at < size) continue;
      yield chunk;
      chunk = Buffer.allocUnsafeSlow(size);
      at = 0;
    }
  }
  if (at > 0) yield chunk.subarray(0, at);
}
