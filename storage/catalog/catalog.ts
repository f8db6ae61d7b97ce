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
  openTogether,
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
import { chunksOf } from './chunks.ts';

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
  return openTogether(root, { readOnly }, () => new CatalogStore(root, pinned));
}

interface Tables {
  readonly state: CatalogState;
  readonly objects: BinaryTable;
  readonly snapshots: BinaryTable;
}

export class CatalogStore {
  private readonly root: ReturnType<typeof openEnvironment>;
  private readonly tables: Tables;

  constructor(root: ReturnType<typeof openEnvironment>, pinned: number | undefined) {
    this.root = root;
    this.tables = {
      state: new CatalogState(root, openTable(root, 'state'), pinned),
      objects: openTable(root, 'objects'),
      snapshots: openTable(root, 'snapshots'),
    };
  }

  /** Number of the current generation, also after another process switched; `undefined` = none. */
  current(): number | undefined {
    return this.state().header()?.generation;
  }

  /**
   * SHA-256 of the current generation as hex digits: of kind, id and JSON of each object in the order of objects().
   * Equal objects have equal digests on every node. `undefined` where there is no generation, and for one of an
   * older version in which an object is damaged.
   */
  digest(): string | undefined {
    const header = this.state().header();
    return header && (header.digest ?? measured(this.tables.objects, header).digest);
  }

  /** The current generation, read from one LMDB snapshot; an empty catalog when there is none. */
  load(): Catalog {
    return catalogOf(this.objects());
  }

  /**
   * Stored JSON of the objects of the current generation, by kind, in ascending order of id. All of it
   * comes from one LMDB snapshot, however slowly the caller reads. The caller owns each value.
   */
  *objects(): Iterable<StoredObject> {
    yield* readGeneration(this.state().header(), this.tables.objects);
  }

  /**
   * Writes a generation, makes it the current one, and removes older ones. Resolves with its number
   * once that is durable. Of overlapping calls, in any process, the one that began last wins.
   * Rejects when a write fails; the old generation then stays in use. With `onto` it rejects with an Overtaken
   * unless that is the number of the generation that it replaces. In a cluster it is proposed, and outcome() tells
   * the result; it rejects with an Overtaken while another one is proposed.
   */
  replace(catalog: Catalog, snapshot?: CatalogSnapshot, onto?: number): Promise<number> {
    const { objects, snapshots, state } = this.tables;
    return written(this.tables, async (generation) => {
      state.mayReplace(onto);
      let header = await writeObjects(objects, generation, catalog);
      if (snapshot !== undefined) {
        header = { ...header, snapshot: await writeSnapshot(snapshots, generation, snapshot) };
      }
      await removeBefore(this.tables, state.complete(header, onto));
    });
  }

  /**
   * The snapshot that was written with the current generation, if it has this format, in buffers
   * that the caller owns. A text names the damaged part.
   */
  snapshot(format: string): ArrayBuffer[] | string | undefined {
    const header = this.state().header();
    if (header?.snapshot?.format !== format) return undefined;
    return readSnapshot(this.tables.snapshots, header.generation, header.snapshot.lengths);
  }

  close(): Promise<void> {
    return this.root.close();
  }

  // In a cluster the generation in use is the one that the log names.

  awaitRecords(recorded: string | undefined): void {
    const { objects, state } = this.tables;
    state.awaitRecords(recorded, (header) => measured(objects, header));
  }

  awaitNone(recorded: string | undefined): void {
    this.state().awaitNone(recorded);
  }

  isAwaiting(): boolean {
    return this.state().isAwaiting();
  }

  outcome(generation: number): Outcome {
    return this.state().outcome(generation);
  }

  proposal(): Proposal | undefined {
    return this.state().proposal();
  }

  find(digest: string): number | undefined {
    return this.state().find(digest)?.generation;
  }

  async adopt(generation: number): Promise<void> {
    this.tables.state.adopt(generation);
    await removeBefore(this.tables, generation);
  }

  async refuse(generation: number, why: string): Promise<void> {
    this.tables.state.refuse(generation, why);
    await forget(this.tables, generation);
  }

  /** The current generation, as receive() takes it. */
  *content(): Iterable<Uint8Array> {
    const header = this.state().header();
    if (header === undefined) return;
    yield* encodeContent(header.bytes ?? 0, readGeneration(header, this.tables.objects));
  }

  /**
   * Writes the content of another node as a generation that is not in use. Rejects where it does not have
   * this digest; nothing of it is left then.
   */
  async receive(
    content: AsyncIterable<Buffer>,
    digest: string,
    prepare: (catalog: Catalog) => CatalogSnapshot,
  ): Promise<void> {
    const { objects, snapshots, state } = this.tables;
    await written(this.tables, async (generation) => {
      const rows = new RowWriter(objects, generation);
      for await (const { json, place } of decodeContent(content)) {
        if (rows.add(place, json)) await rows.flush();
      }
      const header = await rows.end();
      if (header.digest !== digest) throw new Error(`its digest is ${header.digest}`);
      this.root.resetReadTxn();
      const prepared = prepare(catalogOf(readGeneration(header, objects)));
      const snapshot = await writeSnapshot(snapshots, generation, prepared);
      state.keep({ ...header, snapshot });
    });
  }

  private state(): CatalogState {
    this.root.resetReadTxn();
    return this.tables.state;
  }
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

/** Removes only older generations: another process may be writing a younger one. */
async function removeBefore({ objects, snapshots }: Tables, generation: number): Promise<void> {
  for (const table of [objects, snapshots]) await removeBetween(table, 0, generation);
}

async function forget({ objects, snapshots, state }: Tables, generation: number): Promise<void> {
  objects.resetReadTxn();
  if (state.sound()?.generation === generation) return;
  for (const table of [objects, snapshots]) await removeBetween(table, generation, generation + 1);
}

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
    for (const chunk of chunksOf(pieces, CHUNK_BYTES)) {
      await putTogether(snapshots, [[objectKey(generation, part, String(chunks)), chunk]]);
      chunks += 1;
      length += chunk.length;
    }
    lengths.push(length);
  }
  return { format, lengths };
}

/** Reads all parts in one event-loop iteration, so from one LMDB snapshot. */
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
