/**
 * The one door to minisearch: full-text search over the events and tags of one catalog generation.
 * Every word of a query must occur, in any of an event's texts; the last one as a prefix. Titles
 * weigh more than questions, these more than tags, these more than descriptions.
 *
 * An event has each word once, in the weightiest of its texts: descriptions repeat the titles and
 * one another, and one entry a word is enough to find it.
 *
 * Thread: the catalog thread. Non-goals: pages, the `creator` filter, rendering.
 */
import MiniSearch, { type AsPlainObject } from 'minisearch';
import type { Catalog, JsonObject } from '../../storage/catalog-file.ts';
import { eachWord, type QueryWord, queryWords } from './search-words.ts';

/** All that match, as rows of PreparedCatalog, best first; equals by id descending. */
export interface SearchRows {
  readonly events: Uint32Array<ArrayBuffer>;
  readonly tags: Uint32Array<ArrayBuffer>;
}

export interface SearchIndex {
  search(query: string): SearchRows;
}

/** Fields in the order of their weight. */
const EVENT_BOOSTS = { title: 8, questions: 4, tags: 2, descriptions: 1 } as const;
const TAG_BOOSTS = { label: 2, slug: 1 } as const;

type Boosts = Readonly<Record<string, number>>;
/** The texts of one row, by field. */
type Texts<Fields extends Boosts> = Readonly<Record<keyof Fields & string, readonly string[]>>;

/** Rows are those of `catalog.events` and `catalog.tags`. */
export function buildSearchIndex(catalog: Catalog): SearchIndex {
  const tags = new Map(catalog.tags.map((tag) => [String(tag.id), tag]));
  const events = new WordIndex(EVENT_BOOSTS, catalog.events, (event) => textsOf(event, tags));
  const ownTags = new WordIndex(TAG_BOOSTS, catalog.tags, (tag) => ({
    label: [textOf(tag.label)],
    slug: [textOf(tag.slug)],
  }));
  return {
    search(query) {
      const words = queryWords(query);
      return { events: events.search(words), tags: ownTags.search(words) };
    },
  };
}

function textsOf(
  event: JsonObject,
  tags: ReadonlyMap<string, JsonObject>,
): Texts<typeof EVENT_BOOSTS> {
  const markets = event.markets as readonly JsonObject[];
  const own = objectsOf(event.tags).map((tag) => tags.get(String(tag.id)) ?? tag);
  return {
    title: [textOf(event.title)],
    questions: markets.map((market) => textOf(market.question)),
    tags: own.flatMap((tag) => [textOf(tag.label), textOf(tag.slug)]),
    descriptions: [textOf(event.description), ...markets.map(({ description: d }) => textOf(d))],
  };
}

/** One kind of object. */
class WordIndex<Fields extends Boosts> {
  private readonly mini: MiniSearch;
  private readonly scores: Float64Array;
  /** How many words of the query a row has. */
  private readonly found: Uint8Array;

  constructor(
    boosts: Fields,
    objects: readonly JsonObject[],
    textsOf: (object: JsonObject) => Texts<Fields>,
  ) {
    this.scores = new Float64Array(objects.length);
    this.found = new Uint8Array(objects.length);
    const collected = new CollectedWords(Object.keys(boosts));
    for (const object of objects) collected.add(textsOf(object));
    this.mini = MiniSearch.loadJS(collected.toPlainObject(), {
      fields: [...collected.fields],
      processTerm: (word) => word,
      autoVacuum: false,
      searchOptions: { boost: boosts, tokenize: (word) => [word] },
    });
  }

  /**
   * One word after another, each only among the rows that have those before it; long words are rare
   * words, and come first.
   */
  search(words: readonly QueryWord[]): Uint32Array<ArrayBuffer> {
    const { found, mini, scores } = this;
    found.fill(0);
    scores.fill(0);
    let rows: number[] = [];
    const ordered = words.toSorted((a, b) => b.word.length - a.word.length);
    for (const [count, { isPrefix: prefix, word }] of ordered.entries()) {
      const boostDocument = (id: number): number => (found[id] === count ? 1 : 0);
      const matches = mini.search(word, count === 0 ? { prefix } : { prefix, boostDocument });
      rows = matches.map((match) => match.id as number);
      for (const match of matches) {
        found[match.id] = count + 1;
        scores[match.id]! += match.score;
      }
      if (rows.length === 0) break;
    }
    rows.sort((a, b) => scores[b]! - scores[a]! || b - a);
    return Uint32Array.from(rows);
  }
}

/**
 * Words by the rows that have them, to be loaded as a whole: in a third of the time that adding
 * row after row takes, because each word then looks for its place once.
 */
class CollectedWords {
  readonly fields: readonly string[];
  /** Word to `row x number of fields + field`, ascending: once per row. */
  private readonly places = new Map<string, number[]>();
  /** By row, the number of words in each field. */
  private readonly lengths: number[][] = [];

  constructor(fields: readonly string[]) {
    this.fields = fields;
  }

  add(texts: Readonly<Record<string, readonly string[]>>): void {
    const first = this.lengths.length * this.fields.length;
    this.lengths.push(
      this.fields.map((name, field) => {
        let count = 0;
        const take = (word: string): void => {
          if (this.take(word, first, field)) count += 1;
        };
        let previous = '';
        for (const text of texts[name]!) {
          eachWord(differingPart(previous, text), take);
          previous = text;
        }
        return count;
      }),
    );
  }

  private take(word: string, first: number, field: number): boolean {
    const places = this.places.get(word);
    if (places === undefined) this.places.set(word, [first + field]);
    else if (places.at(-1)! >= first) return false;
    else places.push(first + field);
    return true;
  }

  /** What minisearch itself writes and loads (its `toJSON`). */
  toPlainObject(): AsPlainObject {
    const rows = this.lengths.length;
    const totals = this.fields.map((_, field) =>
      this.lengths.reduce((sum, lengths) => sum + lengths[field]!, 0),
    );
    return {
      serializationVersion: 2,
      documentCount: rows,
      nextId: rows,
      dirtCount: 0,
      documentIds: Object.fromEntries(this.lengths.map((_, row) => [row, row])),
      fieldIds: Object.fromEntries(this.fields.map((name, field) => [name, field])),
      fieldLength: Object.fromEntries(this.lengths.entries()),
      averageFieldLength: totals.map((total) => total / Math.max(rows, 1)),
      storedFields: {},
      // It is only walked over; as an array, all of it would be in memory at once.
      index: this.entries() as Iterable<unknown> as AsPlainObject['index'],
    };
  }

  private *entries(): Generator<AsPlainObject['index'][number]> {
    for (const [word, places] of this.places) {
      const fields: Record<string, Record<number, number>> = {};
      for (const place of places) {
        const field = place % this.fields.length;
        fields[field] ??= {};
        fields[field][(place - field) / this.fields.length] = 1;
      }
      yield [word, fields];
    }
  }
}

/**
 * `text` without what it begins and ends with like `previous`, cut at spaces: all its words that
 * `previous` may lack. Texts of one event often differ in a name only.
 */
function differingPart(previous: string, text: string): string {
  const shorter = Math.min(previous.length, text.length);
  let start = 0;
  let wordStart = 0;
  while (start < shorter && previous.charCodeAt(start) === text.charCodeAt(start)) {
    start += 1;
    if (isSpace(text, start - 1)) wordStart = start;
  }
  if (start === text.length && start === previous.length) return '';
  let same = 0;
  let end = text.length;
  while (same < shorter - wordStart) {
    const at = text.length - 1 - same;
    if (previous.charCodeAt(previous.length - 1 - same) !== text.charCodeAt(at)) break;
    if (isSpace(text, at)) end = at;
    same += 1;
  }
  return text.slice(wordStart, Math.max(wordStart, end));
}

function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 32 || unit === 10;
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
