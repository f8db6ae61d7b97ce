/**
 * The catalog on disk: LMDB environment DATA_DIR/catalog, one generation at a time. A new
 * generation is written in chunks next to the current one. One atomic put makes it the current one, so
 * a crash at any time leaves the old one complete. Older generations are removed afterwards.
 *   state    'current' -> header of the current generation;  'next' -> number of the next one
 *   objects  the JSON of each object of a generation (catalog-rows.ts)
 *   snapshots  generation (6) | part (1) | chunk (8) -> bytes that the writer of the generation computed
 *            from it; reading them replaces computing them again (see CatalogSnapshot)
 * Every value begins with a checksum over key and value (checksum.ts). A value with a wrong checksum is
 * never served: a damaged snapshot is computed again from the objects; a damaged object or header is
 * reported by name, and an import replaces it.
 * A site has no number: its index in the list of sites is its id.
 * Thread: any, with a store of its own. Several threads and processes may open it at the same time.
 * Non-goals: indexes, and noticing a new generation (callers compare `current()`).
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../files/make-directory.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  writeFailure,
} from '../kv/lmdb.ts';
import { decodeContent, encodeContent } from './catalog-content.ts';
import { type Catalog, readCatalog } from './catalog-file.ts';
import {
  CHUNK_BYTES,
  GENERATION_BYTES,
  KINDS,
  measured,
  newestOf,
  objectKey,
  putTogether,
  RowWriter,
  readGeneration,
  removeBetween,
  type StoredObject,
} from './catalog-rows.ts';
import {
  CatalogState,
  type Header,
  type Outcome,
  Overtaken,
  opened,
  type Proposal,
} from './catalog-state.ts';

/** What a cluster needs of a store; the generation in use is then the one that its log names. */
interface SharedStore {
  /** See CatalogState.awaitRecords and awaitNone. */
  awaitRecords(recorded: string | undefined): void;
  awaitNone(recorded: string | undefined): void;
  /** Whether generations are proposed. */
  isAwaiting(): boolean;
  outcome(generation: number): Outcome;
  proposal(): Proposal | undefined;
  /** The number of the generation with this digest, in use or not. */
  find(digest: string): number | undefined;
  /** Makes it the current one, and removes older ones. */
  adopt(generation: number): Promise<void>;
  refuse(generation: number, why: string): Promise<void>;
  /** The current generation, as receive() takes it. */
  content(): Iterable<Uint8Array>;
  /**
   * Writes the content of another node as a generation that is not in use. Rejects where that does not have this
   * digest; nothing of it is left then.
   */
  receive(
    content: AsyncIterable<Buffer>,
    digest: string,
    prepare: (catalog: Catalog) => CatalogSnapshot,
  ): Promise<void>;
}

export interface CatalogStore extends SharedStore {
  /**
   * The number of the current generation, also after another process switched; undefined = none.
   */
  current(): number | undefined;
  /**
   * SHA-256 of the current generation as hex digits: of kind, id and JSON of each object in the order of objects().
   * Equal objects, equal digest, on whatever node. Undefined where there is no generation, and for one of an older
   * version in which an object is damaged.
   */
  digest(): string | undefined;
  /** The current generation, read from one LMDB snapshot; an empty catalog when there is none. */
  load(): Catalog;
  /**
   * The stored JSON of the objects of the current generation, by kind, in ascending order of id.
   * All of it comes from one LMDB snapshot, however slowly the caller reads. The caller owns each
   * value.
   */
  objects(): Iterable<StoredObject>;
  /**
   * Writes a generation, makes it the current one, and removes older ones. Resolves with its number
   * once that is durable. Of overlapping calls, in any process, the one that began last wins.
   * Rejects when a write fails; the old generation then stays in use. With `onto` it rejects with an Overtaken
   * unless that is the number of the generation that it replaces. In a cluster it is proposed, and outcome() tells
   * what becomes of it; it rejects with an Overtaken while another one is proposed.
   */
  replace(catalog: Catalog, snapshot?: CatalogSnapshot, onto?: number): Promise<number>;
  /**
   * The snapshot that was written with the current generation, if it has this format, in buffers
   * that the caller owns. A text says which part of it is damaged.
   */
  snapshot(format: string): ArrayBuffer[] | string | undefined;
  close(): Promise<void>;
}

/** Parts of bytes that were computed from a generation. The store does not know what they mean. */
export interface CatalogSnapshot {
  /** Names the program and version that can read the parts. Others ignore them. */
  readonly format: string;
  /** Each part in pieces of any length. Each is iterated once. */
  readonly parts: readonly Iterable<Uint8Array>[];
}

/** @param options with `generation`, only that one is read, whether it is in use or not */
export function openCatalog(
  dataDir: string,
  options: {
    readonly durability: Durability;
    readonly readOnly?: boolean;
    readonly generation?: number | undefined;
  },
): CatalogStore {
  const path = join(dataDir, 'catalog');
  if (options.readOnly !== true) makeDirectory(path);
  else if (!existsSync(path)) throw new Error(`there is no directory ${path}`);
  const { durability, generation: pinned, readOnly = false } = options;
  const root = openEnvironment({ path, durability, readOnly });
  const tables: Tables = {
    state: new CatalogState(root, openTable(root, 'state'), pinned),
    objects: openTable(root, 'objects'),
    snapshots: openTable(root, 'snapshots'),
  };
  return {
    ...reading(root, tables),
    ...sharing(root, tables),
    async replace(catalog, snapshot, onto) {
      const { objects, snapshots, state } = tables;
      return written(tables, async (generation) => {
        state.mayReplace(onto);
        const header = await writeObjects(objects, generation, catalog);
        const inUse = state.complete(
          snapshot === undefined
            ? header
            : { ...header, snapshot: await writeSnapshot(snapshots, generation, snapshot) },
          onto,
        );
        await removeBefore(tables, inUse);
      });
    },
    close: () => root.close(),
  };
}

interface Tables {
  readonly state: CatalogState;
  readonly objects: BinaryTable;
  readonly snapshots: BinaryTable;
}

type Root = ReturnType<typeof openEnvironment>;

function reading(
  root: Root,
  { objects, snapshots, state }: Tables,
): Pick<CatalogStore, 'current' | 'digest' | 'load' | 'objects' | 'snapshot'> {
  return {
    current() {
      root.resetReadTxn();
      return state.header()?.generation;
    },

    digest() {
      root.resetReadTxn();
      const header = state.header();
      return header && (header.digest ?? measured(objects, header).digest);
    },

    load() {
      root.resetReadTxn();
      return catalogOf(readGeneration(state.header(), objects));
    },

    *objects() {
      root.resetReadTxn();
      yield* readGeneration(state.header(), objects);
    },

    snapshot(format) {
      root.resetReadTxn();
      const header = state.header();
      if (header?.snapshot?.format !== format) return undefined;
      return readSnapshot(snapshots, header.generation, header.snapshot.lengths);
    },
  };
}

function sharing(root: Root, tables: Tables): SharedStore {
  const { objects, snapshots, state } = tables;
  const fresh = (): CatalogState => {
    root.resetReadTxn();
    return state;
  };
  return {
    awaitRecords: (recorded) => state.awaitRecords(recorded, (header) => measured(objects, header)),
    awaitNone: (recorded) => fresh().awaitNone(recorded),
    isAwaiting: () => fresh().isAwaiting(),
    outcome: (generation) => fresh().outcome(generation),
    proposal: () => fresh().proposal(),
    find: (digest) => fresh().find(digest)?.generation,

    async adopt(generation) {
      state.adopt(generation);
      await removeBefore(tables, generation);
    },

    async refuse(generation, why) {
      state.refuse(generation, why);
      await forget(tables, generation);
    },

    *content() {
      const header = fresh().header();
      if (header !== undefined) {
        yield* encodeContent(header.bytes ?? 0, readGeneration(header, objects));
      }
    },

    async receive(content, digest, prepare) {
      await written(tables, async (generation) => {
        const rows = new RowWriter(objects, generation);
        for await (const { json, place } of decodeContent(content)) {
          if (rows.add(place, json)) await rows.flush();
        }
        const header = await rows.end();
        if (header.digest !== digest) throw new Error(`its digest is ${header.digest}`);
        root.resetReadTxn();
        const prepared = prepare(catalogOf(readGeneration(header, objects)));
        const snapshot = await writeSnapshot(snapshots, generation, prepared);
        state.keep({ ...header, snapshot });
      });
    },
  };
}

/** Writes a generation under a new number, and leaves nothing of it where that fails. */
async function written(
  tables: Tables,
  write: (generation: number) => Promise<void>,
): Promise<number> {
  let generation: number | undefined;
  try {
    generation = tables.state.takeNumber(() => newestOf(tables.objects));
    await write(generation);
    return generation;
  } catch (error) {
    const failure = error instanceof Overtaken ? error : new Error(await writeFailure(error));
    // Otherwise the part that was written would stay until the next successful import.
    if (generation !== undefined) await forget(tables, generation).catch(() => undefined);
    throw failure;
  }
}

/** Only older generations: another process may be writing a younger one. */
async function removeBefore({ objects, snapshots }: Tables, generation: number): Promise<void> {
  for (const table of [objects, snapshots]) await removeBetween(table, 0, generation);
}

/** Removes what was written of a generation, unless it is the current one. */
async function forget({ objects, snapshots, state }: Tables, generation: number): Promise<void> {
  objects.resetReadTxn();
  if (state.sound()?.generation === generation) return;
  for (const table of [objects, snapshots]) await removeBetween(table, generation, generation + 1);
}

/** The raw objects are stored; the fields for trading are computed from them when they are read. */
function catalogOf(objects: Iterable<StoredObject>): Catalog {
  const file = { events: [], tags: [], series: [], sites: [] };
  for (const { kind, json } of objects) {
    const list: unknown[] = file[kind];
    list.push(JSON.parse(json.toString()));
  }
  const result = readCatalog(file);
  assert(result.ok, 'a stored catalog has been read before');
  return result.catalog;
}

/** In the order of objects(). */
async function writeObjects(
  objects: BinaryTable,
  generation: number,
  catalog: Catalog,
): Promise<Header> {
  const rows = new RowWriter(objects, generation);
  for (const [kind, name] of KINDS.entries()) {
    const placed = [...catalog[name].entries()].map(([at, object]) => {
      const id = name === 'sites' ? String(at) : String(object.id);
      return [objectKey(generation, kind, id).subarray(GENERATION_BYTES), object] as const;
    });
    placed.sort(([a], [b]) => Buffer.compare(a, b));
    for (const [place, object] of placed) {
      if (rows.add(place, Buffer.from(JSON.stringify(object)))) await rows.flush();
    }
  }
  return rows.end();
}

async function writeSnapshot(
  snapshots: BinaryTable,
  generation: number,
  { format, parts }: CatalogSnapshot,
): Promise<NonNullable<Header['snapshot']>> {
  const lengths: number[] = [];
  for (const [part, pieces] of parts.entries()) {
    let length = 0;
    let chunks = 0;
    for (const chunk of chunksOf(pieces)) {
      await putTogether(snapshots, [[objectKey(generation, part, String(chunks)), chunk]]);
      chunks += 1;
      length += chunk.length;
    }
    lengths.push(length);
  }
  return { format, lengths };
}

/** Chunks of one size, except the last, each in a buffer that nobody else writes to. */
function* chunksOf(pieces: Iterable<Uint8Array>): Generator<Buffer> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let at = 0;
  for (const piece of pieces) {
    for (let taken = 0; taken < piece.length; ) {
      const part = piece.subarray(taken, taken + CHUNK_BYTES - at);
      chunk.set(part, at);
      at += part.length;
      taken += part.length;
      if (at < CHUNK_BYTES) continue;
      yield chunk;
      chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      at = 0;
    }
  }
  if (at > 0) yield chunk.subarray(0, at);
}

/** Runs in one turn of the event loop, so it reads one LMDB snapshot. */
function readSnapshot(
  snapshots: BinaryTable,
  generation: number,
  lengths: readonly number[],
): ArrayBuffer[] | string {
  const parts: ArrayBuffer[] = [];
  for (const [part, length] of lengths.entries()) {
    const bytes = new Uint8Array(length);
    let at = 0;
    const start = objectKey(generation, part, '0');
    const end = objectKey(generation, part + 1, '0');
    for (const { key, value } of snapshots.getRange({ start, end })) {
      const chunk = opened(key, value);
      if (chunk === undefined || at + chunk.length > length) {
        return `part ${part} of what was prepared of it, behind byte ${at}`;
      }
      bytes.set(chunk, at);
      at += chunk.length;
    }
    if (at !== length) return `part ${part} of what was prepared of it, which ends at byte ${at}`;
    parts.push(bytes.buffer);
  }
  return parts;
}
