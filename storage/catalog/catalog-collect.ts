/**
 * Collects the objects of a catalog while it is read: one object per id, which market owns which
 * id, and what was wrong with the file.
 *
 * Pure; any thread.
 */
import { ID_PATTERN } from './catalog-fields.ts';
import { isObject, type JsonObject, text } from './catalog-json.ts';

/** Objects that were skipped, or stored in spite of an error, for one reason. */
export interface SkippedGroup {
  readonly reason: string;
  readonly count: number;
  /** Ids of the first few objects, or their places in the file when they have no id. */
  readonly first: readonly string[];
  /** Missing or unusable field of objects that are left out, or get no book. */
  readonly field?: string;
  readonly names?: readonly string[];
}

const FIRST_NAMED_MAX = 5;
/** Rank of an object: in the list of its kind, or a copy inside an event. */
export const OWN_LIST = 1;
export const NESTED_COPY = 0;

export class Tally {
  readonly #groups = new Map<string, { count: number; field?: string; names: string[] }>();

  add(reason: string, name: string, field?: string): undefined {
    const group = this.#groups.get(reason) ?? { count: 0, names: [] };
    group.count++;
    if (field !== undefined) group.field = field;
    if (field !== undefined || group.names.length < FIRST_NAMED_MAX) group.names.push(name);
    this.#groups.set(reason, group);
  }

  groups(): SkippedGroup[] {
    return [...this.#groups].map(([reason, { count, field, names }]) => {
      const first = names.slice(0, FIRST_NAMED_MAX);
      return field === undefined
        ? { reason, count, first }
        : { reason, count, first, field, names };
    });
  }
}

interface Candidate {
  readonly value: JsonObject;
  readonly rank: number;
  readonly updatedMs: number;
}

/** One object per id: that of the highest rank, then of the latest `updatedAt`, then the last. */
export class LatestById {
  readonly #kind: string;
  readonly #tally: Tally;
  readonly #byId = new Map<string, Candidate>();

  constructor(kind: string, tally: Tally) {
    this.#kind = kind;
    this.#tally = tally;
  }

  /** Adds the objects with a usable id. Returns them with their ids as text. */
  addAll(list: readonly unknown[], place: string, rank: number): readonly JsonObject[] {
    const taken: JsonObject[] = [];
    for (const [index, item] of list.entries()) {
      const id = isObject(item) ? idText(item.id) : undefined;
      if (!isObject(item) || id === undefined) {
        this.#tally.add(`${this.#kind} without a usable id: left out`, `${place}[${index}]`, 'id');
        continue;
      }
      const value = item.id === id ? item : { ...item, id };
      taken.push(value);
      this.#add(id, { value, rank, updatedMs: instantMs(item.updatedAt) });
    }
    return taken;
  }

  #add(id: string, candidate: Candidate): void {
    const known = this.#byId.get(id);
    if (known === undefined) {
      this.#byId.set(id, candidate);
      return;
    }
    if (known.rank === OWN_LIST && candidate.rank === OWN_LIST) {
      this.#tally.add(`${this.#kind} listed more than once: the latest version kept`, id);
    }
    const later =
      candidate.rank !== known.rank
        ? candidate.rank > known.rank
        : candidate.updatedMs >= known.updatedMs;
    if (later) this.#byId.set(id, candidate);
  }

  list(): readonly JsonObject[] {
    return [...this.#byId.entries()]
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, candidate]) => candidate.value);
  }
}

export class Claims {
  readonly #owners = new Map<string, string>();
  conflict: string | undefined;

  condition(conditionId: string, marketId: string): void {
    this.#claim('condition', conditionId, marketId);
  }

  tokens(tokenIds: readonly string[], marketId: string): void {
    for (const tokenId of tokenIds) this.#claim('token', tokenId, marketId);
  }

  #claim(kind: string, id: string, marketId: string): void {
    const owner = this.#owners.get(id);
    if (owner === undefined) this.#owners.set(id, marketId);
    else if (owner !== marketId) {
      this.conflict ??= `markets ${owner} and ${marketId} both claim ${kind} id ${id}`;
    }
  }
}

function idText(value: unknown): string | undefined {
  const id = typeof value === 'number' ? String(value) : value;
  return typeof id === 'string' && ID_PATTERN.test(id) ? id : undefined;
}

function instantMs(value: unknown): number {
  const ms = Date.parse(text(value));
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}
