/**
 * Writes the tokens of a recording as arrays of hftbacktest (npz-form.ts). The recording is read once to count their rows,
 * which stand at the beginning of a file, and once more for each ARRAYS_MAX of them.
 *
 * Thread: any.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type JsonObject, listOf, text, textList } from '../catalog/catalog-json.ts';
import { tradedTokens } from '../catalog/market-form.ts';
import { NpzWriter } from '../columns/npz.ts';
import type { Parts } from './convert-parts.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';
import {
  NPZ_ABOUT,
  NPZ_FIELDS,
  type NpzAbout,
  NpzEncoder,
  type NpzEvent,
  npzRowCount,
  RECORD_BYTES,
} from './npz-form.ts';
import type { Recording } from './opened.ts';
import { understoodEvents } from './source-message.ts';

/** Arrays that are written in one reading; each has the tables of a compressor. */
const ARRAYS_MAX = 64;
const BUFFER_BYTES = 256 * RECORD_BYTES;

interface TokenRows {
  rows: number;
  /** Name of the market in its messages. */
  readonly market: string;
}

/** Writes the array of the token, or a directory with one for each token. */
export async function writeArrays(recording: Recording, path: string, parts: Parts): Promise<void> {
  const counts = await countRows(recording, parts);
  const { token } = parts;
  const tokens = token === undefined ? [...counts.keys()] : [token];
  const unknown = tokens.find((each) => !counts.has(each));
  if (unknown !== undefined)
    throw new RecordingDamaged(
      `${recording.path}: it has no books or trades of the token ${unknown}`,
    );
  if (token === undefined) await mkdir(path);
  for (let from = 0; from < tokens.length; from += ARRAYS_MAX) {
    const arrays = new Map<string, TokenArray>();
    try {
      for (const each of tokens.slice(from, from + ARRAYS_MAX)) {
        const file = token === undefined ? join(path, `${each}.npz`) : path;
        const { market, rows } = counts.get(each)!;
        const about = aboutOf(recording, market, each);
        const texts = about === undefined ? {} : { [NPZ_ABOUT]: JSON.stringify(about) };
        arrays.set(each, new TokenArray(await NpzWriter.create(file, NPZ_FIELDS, rows, texts)));
      }
      await writeTokens(recording, arrays, parts);
    } catch (error) {
      for (const array of arrays.values()) await array.abort();
      throw error;
    }
    for (const array of arrays.values()) {
      await array.close();
      parts.raised += array.raised;
    }
  }
}

async function countRows(
  recording: Recording,
  parts: Parts,
): Promise<ReadonlyMap<string, TokenRows>> {
  const counts = new Map<string, TokenRows>();
  for await (const batch of recording.batches()) {
    for (const { event, message } of eventsOf(batch, parts)) {
      const known = counts.get(event.token);
      if (known !== undefined) known.rows += npzRowCount(event);
      else
        counts.set(event.token, {
          rows: npzRowCount(event),
          market: text(message.market) || event.token,
        });
    }
    parts.written(batch);
  }
  return counts;
}

async function writeTokens(
  recording: Recording,
  arrays: ReadonlyMap<string, TokenArray>,
  parts: Parts,
): Promise<void> {
  for await (const batch of recording.batches()) {
    for (const { at, event } of eventsOf(batch, undefined)) {
      const array = arrays.get(event.token);
      if (array === undefined) continue;
      await array.write(event, at);
    }
    let bytes = 0;
    for (const array of arrays.values()) bytes += array.bytes;
    parts.show(bytes);
  }
}

/** Name of a file. */
const TOKEN = /^\d{1,78}$/;

/** Events with a place in an array. @param parts counts the messages without one */
function* eventsOf(batch: readonly RecordingEntry[], parts: Parts | undefined) {
  for (const entry of batch) {
    if (entry.kind !== 'message') continue;
    const { at, message } = entry;
    let count = 0;
    for (const event of understoodEvents(message, () => undefined)) {
      if (event.kind !== 'book' && event.kind !== 'changes' && event.kind !== 'print') continue;
      if (!TOKEN.test(event.token)) continue;
      count += 1;
      yield { at, event: event satisfies NpzEvent, message };
    }
    if (count === 0 && parts !== undefined) parts.leftOut += 1;
  }
}

/** Header and catalog event of one market; `undefined` if the catalog does not list the token. */
function aboutOf(recording: Recording, market: string, token: string): NpzAbout | undefined {
  const { catalog, header } = recording;
  for (const event of catalog.events) {
    const markets = (listOf(event.markets) ?? []).filter(
      (each): each is JsonObject =>
        isObject(each) && (textList(tradedTokens(each)) ?? []).includes(token),
    );
    if (markets.length > 0) {
      const inferred = header.inferred.filter((id) => id === token);
      return { header: { ...header, inferred }, event: { ...event, markets }, market, token };
    }
  }
  return undefined;
}

/** An array that is being written. */
class TokenArray {
  private readonly writer: NpzWriter;
  private readonly encoder = new NpzEncoder();
  private buffer = Buffer.alloc(BUFFER_BYTES);
  private length = 0;

  constructor(writer: NpzWriter) {
    this.writer = writer;
  }

  get raised(): number {
    return this.encoder.raised;
  }

  get bytes(): number {
    return this.writer.bytes;
  }

  async write(event: NpzEvent, at: number): Promise<void> {
    const bytes = npzRowCount(event) * RECORD_BYTES;
    if (this.length + bytes > this.buffer.length) await this.flush();
    // A book may have more levels than the buffer has rows.
    if (bytes > this.buffer.length) this.buffer = Buffer.alloc(bytes);
    this.length = this.encoder.encode(event, at, this.buffer, this.length);
  }

  async close(): Promise<void> {
    await this.flush();
    await this.writer.close();
  }

  abort(): Promise<void> {
    return this.writer.abort();
  }

  private async flush(): Promise<void> {
    if (this.length === 0) return;
    await this.writer.write(this.buffer.subarray(0, this.length));
    this.length = 0;
  }
}
