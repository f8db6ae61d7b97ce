/**
 * A catalog generation that is ready to be served: every object as UTF-8 JSON fragments in one run
 * of bytes, and every index as plain typed arrays. There is no object per row, so a generation of
 * any size is sent from the thread that built it to the I/O thread by transferring its buffers.
 *
 * Rows: the objects of a kind are numbered from 0 in ascending order of id. Fragments: a span
 * [start, end) of `bytes`. "Open" means that the closing `}` is left out, so that members can
 * follow.
 *
 * Nothing is changed after it was built, except the live statistics of markets and events: they are in
 * spans of fixed length, filled up with blanks that no answer shows, and the I/O thread overwrites them.
 *
 * Pure data, any thread. Made by build.ts, read by select.ts and render.ts; market-statistics.ts writes
 * statistics.
 */

export interface Spans {
  readonly start: Uint32Array<ArrayBuffer>;
  readonly end: Uint32Array<ArrayBuffer>;
}

/** `rowsOf(row)` = values[ends[row] .. ends[row + 1]), ascending; `ends` has one more than rows. */
export interface Relation {
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly values: Uint32Array<ArrayBuffer>;
}

/** Index from keys to rows, exact by UTF-16 code units (text-index.ts). */
export interface TextIndex {
  /** Open addressing, a power of two long: key number + 1, 0 = free. */
  readonly slots: Uint32Array<ArrayBuffer>;
  /** Key k = units[keyEnds[k] .. keyEnds[k + 1]). */
  readonly keyEnds: Uint32Array<ArrayBuffer>;
  readonly units: Uint16Array<ArrayBuffer>;
  readonly rows: Relation;
}

/** Order of all rows by one column, ascending; equal values by id (docs/protocol.md#sort-order). */
export interface SortOrder {
  /** The first `present` rows have a value; the others follow in order of id. */
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly present: number;
  /** Inverse of `rows`: the place of each row. */
  readonly places: Uint32Array<ArrayBuffer>;
  /** 1 at each place whose value differs from that of the place before. */
  readonly firsts: Uint8Array<ArrayBuffer>;
  /**
   * Dates in microseconds since 1970, and numbers; absent ones are infinite. Empty for other kinds.
   */
  readonly values: Float64Array<ArrayBuffer>;
}

export type SortOrders = Readonly<Record<string, SortOrder>>;

/** Bits of `flags`: the boolean columns in their order (shape.ts). */
export const CatalogFlag = { active: 1, closed: 2, archived: 4 } as const;

export interface PreparedObjects {
  readonly ids: Float64Array<ArrayBuffer>;
  readonly flags: Uint8Array<ArrayBuffer>;
  /** Object with its statistics, but without its nested members; open. */
  readonly coreStart: Uint32Array<ArrayBuffer>;
  readonly coreEnd: Uint32Array<ArrayBuffer>;
  /**
   * [figuresStart, coreEnd) are its live statistics, each after its comma. Blanks follow from figuresEnd on, which
   * moves with the statistics.
   */
  readonly figuresStart: Uint32Array<ArrayBuffer>;
  readonly figuresEnd: Uint32Array<ArrayBuffer>;
  /**
   * [coreStart, entryEnd) is the object as lists show it; a `,` follows. A market has the short
   * summary of its event, an event its `tags`. Entries lie in descending order of id, each behind
   * the comma of the one before: a page of the default listing is cut only by blanks of statistics.
   */
  readonly entryEnd: Uint32Array<ArrayBuffer>;
  /** Position after a column at which fragments are cut. */
  readonly cuts: Readonly<Record<string, Uint32Array<ArrayBuffer>>>;
  /** Indexes by the KEY_COLUMNS of the kind; objects without a value are not in the index. */
  readonly keys: Readonly<Record<string, TextIndex>>;
  readonly orders: SortOrders;
}

/** Cut around `description`, which only the full form of the sampling lists shows. */
export interface PreparedMarkets extends PreparedObjects {
  readonly event: Uint32Array<ArrayBuffer>;
  readonly creator: Uint32Array<ArrayBuffer>;
  readonly outcomes: Uint16Array<ArrayBuffer>;
  /** Members of CATALOG_OBJECTS=clients, each after its comma; often empty. */
  readonly clientMembers: Spans;
}

export interface PreparedEvents extends PreparedObjects {
  /** `,"series":[...],"eventMetadata":{...}}`: what follows `markets` in a single event. */
  readonly rest: Spans;
  /** `{"id","slug","title","ticker","description"}` of the sampling lists, closed. */
  readonly sampling: Spans;
  readonly markets: Relation;
  readonly tags: Relation;
}

/** Series; and tags, cut behind `slug`, where search shows `event_count`. */
export interface PreparedOwners extends PreparedObjects {
  readonly events: Relation;
}

/** Markets of the sampling lists (active, not closed, not archived), ascending by row. */
export interface PreparedSampling extends Spans {
  readonly markets: Uint32Array<ArrayBuffer>;
  /**
   * [start, split) = `{"condition_id","status","neg_risk","market_id","question","slug"`, and
   * [split, end) = `,"assets_ids","outcomes"`; together the simplified form, open. The full form
   * has `,"description":` between them and `,"event":`, `,"raw_metadata":` behind.
   */
  readonly split: Uint32Array<ArrayBuffer>;
  readonly metadata: Spans;
}

export interface PreparedCatalog {
  /** `W/"catalog-<40 hex>"`, a hash of everything that is served except statistics. */
  readonly etag: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly markets: PreparedMarkets;
  readonly events: PreparedEvents;
  readonly series: PreparedOwners;
  readonly tags: PreparedOwners;
  readonly sampling: PreparedSampling;
  /** Wallet in lower case, or normalised site id -> numbers of creators (as rows), from 1. */
  readonly creators: TextIndex;
  readonly creatorCount: number;
}

/** Returns every buffer of a prepared catalog once: the transfer list of a message. */
export function buffersOf(prepared: PreparedCatalog): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (value: unknown): void => {
    if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(prepared);
  return [...found];
}
