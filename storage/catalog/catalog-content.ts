/**
 * The objects of a generation as bytes, for another node: the same bytes wherever the same objects are.
 *   length of all rows (6 bytes) | rows, in the order of CatalogStore.objects()
 *   row: kind (1) | id (8) | length of the JSON (4) | JSON; numbers are big-endian
 *
 * Pure; any thread. Non-goals: the digest, which the store computes of the rows as it writes them.
 */
import { Pieces } from '../files/pieces.ts';
import { chunksOf } from './chunks.ts';

const PLACE_BYTES = 9;
export const ROW_HEAD_BYTES = PLACE_BYTES + 4;
const TOTAL_BYTES = 6;
/** Bound of one object's JSON: far more than an event with all its markets. */
const JSON_BYTES_MAX = 2 ** 28;
const PIECE_BYTES = 1 << 17;

export interface ContentRow {
  readonly place: Buffer;
  readonly json: Buffer;
}

/** @param bytes length of all rows */
export function encodeContent(bytes: number, rows: Iterable<ContentRow>): Generator<Uint8Array> {
  return chunksOf(partsOf(bytes, rows), PIECE_BYTES);
}

function* partsOf(bytes: number, rows: Iterable<ContentRow>): Generator<Uint8Array> {
  const total = Buffer.alloc(TOTAL_BYTES);
  total.writeUIntBE(bytes, 0, TOTAL_BYTES);
  yield total;
  for (const { json, place } of rows) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    yield place;
    yield length;
    yield json;
  }
}

/** Throws an Error where the bytes are no content, at the first of them that shows it. */
export async function* decodeContent(
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<ContentRow, void, void> {
  const source = new Pieces(pieces);
  let isWhole = false;
  try {
    let left = (await source.exactly(TOTAL_BYTES)).readUIntBE(0, TOTAL_BYTES);
    while (left > 0) {
      const head = await source.exactly(ROW_HEAD_BYTES);
      const length = head.readUInt32BE(PLACE_BYTES);
      left -= ROW_HEAD_BYTES + length;
      if (left < 0 || length > JSON_BYTES_MAX) throw new Error(`an object of ${length} bytes`);
      yield { place: head.subarray(0, PLACE_BYTES), json: await source.exactly(length) };
    }
    isWhole = true;
  } finally {
    await source.close(isWhole);
  }
}
