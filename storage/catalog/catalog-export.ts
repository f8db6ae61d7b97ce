/**
 * Writes a stored catalog as a catalog file, one object at a time, so that memory does not grow
 * with its size.
 *
 * Thread: any. Non-goals: reading one (catalog-file.ts).
 */
import type { Writable } from 'node:stream';
import { writeWhole } from '../files/whole-file.ts';
import { KINDS, type StoredObject } from './catalog-rows.ts';
import { chunksOf } from './chunks.ts';

/** Bytes of one write: one for each small object is slow. */
const CHUNK_BYTES = 1 << 16;

export function exportToFile(objects: Iterable<StoredObject>, file: string): Promise<void> {
  return writeWhole(file, catalogChunks(objects));
}

/**
 * Writes a catalog to a stream and leaves it open. Resolves when the stream has taken all of it.
 * Rejects when the reader has disconnected.
 */
export async function exportToStream(
  objects: Iterable<StoredObject>,
  stream: Writable,
): Promise<void> {
  // A failure rejects the write that it belongs to. The `error` event follows later and needs a
  // listener.
  stream.on('error', () => {});
  for (const chunk of catalogChunks(objects)) {
    await new Promise<void>((resolve, reject) => {
      stream.write(chunk, (error) => (error == null ? resolve() : reject(error)));
    });
  }
}

function catalogChunks(objects: Iterable<StoredObject>): Generator<Buffer> {
  return chunksOf(catalogPieces(objects), CHUNK_BYTES);
}

/** `{"events":[...],"tags":[...],...}`, one object a line. Empty lists are written too. */
function* catalogPieces(objects: Iterable<StoredObject>): Generator<Buffer> {
  const heads = KINDS.map((kind, index) => `${index === 0 ? '{' : '],\n'}"${kind}":[\n`);
  const separator = Buffer.from(',\n');
  let opened = 0;
  for (const { kind, json } of objects) {
    const until = KINDS.indexOf(kind) + 1;
    yield until === opened ? separator : Buffer.from(heads.slice(opened, until).join(''));
    opened = until;
    yield json;
  }
  yield Buffer.from(`${heads.slice(opened).join('')}]}\n`);
}
