/**
 * Writes a stored catalog as a catalog file, object by object, so that its size costs no memory.
 *
 * Thread: any. Non-goals: reading one (catalog-file.ts).
 */
import type { Writable } from 'node:stream';
import { writeWhole } from '../files/whole-file.ts';
import { KINDS, type StoredObject } from './catalog.ts';

/** Objects are gathered up to this size: a small one is not worth a write of its own. */
const CHUNK_BYTES = 1 << 16;

/** Writes the file; see writeWhole. */
export function exportToFile(objects: Iterable<StoredObject>, file: string): Promise<void> {
  return writeWhole(file, catalogChunks(objects));
}

/**
 * Writes the same to a stream and leaves that open; resolves when the stream has taken it all.
 * Rejects when the other end has gone.
 */
export async function exportToStream(
  objects: Iterable<StoredObject>,
  stream: Writable,
): Promise<void> {
  // A failure rejects the write that it belongs to. Its event comes later and must find somebody.
  stream.on('error', () => {});
  for (const chunk of catalogChunks(objects)) {
    await new Promise<void>((resolve, reject) => {
      stream.write(chunk, (error) => (error == null ? resolve() : reject(error)));
    });
  }
}

function* catalogChunks(objects: Iterable<StoredObject>): Generator<Buffer> {
  let pending: Buffer[] = [];
  let bytes = 0;
  for (const piece of catalogPieces(objects)) {
    pending.push(piece);
    bytes += piece.length;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(pending);
    pending = [];
    bytes = 0;
  }
  yield Buffer.concat(pending);
}

/** `{"events":[...],"tags":[...],...}`, one object a line; lists without objects are there too. */
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
