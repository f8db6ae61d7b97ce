/**
 * The one door to minisearch: full-text search over the events and tags of one catalog generation.
 * Every word of a query must occur, in any of an event's texts; the last one as a prefix. Titles
 * weigh more than questions, these more than tags, these more than descriptions.
 *
 * An event has each word once, in the weightiest of its texts: descriptions repeat the titles and
 * one another, and one entry a word is enough to find it.
 *
 * Thread: the search thread. Non-goals: pages, the `creator` filter, rendering.
 */
import MiniSearch, { type AsPlainObject } from 'minisearch';
import type { Catalog } from '../../storage/catalog-file.ts';
import { SEARCH_FIELDS, type SearchTexts, searchTexts } from './search-texts.ts';
import { eachWord, type QueryWord, queryWords } from './search-words.ts';

/** All that match, as rows of PreparedCatalog, best first; equals by id descending. */
export interface SearchRows {
  readonly events: Uint32Array<ArrayBuffer>;
  readonly tags: Uint32Array<ArrayBuffer>;
}

export interface SearchIndex {
  search(query: string): SearchRows;
}

/** Collects texts as they come, and makes the index of them. */
export class SearchIndexBuilder {
  private readonly words = {
    events: new CollectedWords(Object.keys(SEARCH_FIELDS.events)),
    tags: new CollectedWords(Object.keys(SEARCH_FIELDS.tags)),
  };

  add({ kind, rows }: SearchTexts): void {
    for (const texts of rows) this.words[kind].add(texts);
  }

  build(): SearchIndex {
    const events = new WordIndex(SEARCH_FIELDS.events, this.words.events);
    const tags = new WordIndex(SEARCH_FIELDS.tags, this.words.tags);
    return {
      search(query) {
        const words = queryWords(query);
        return { events: events.search(words), tags: tags.search(words) };
      },
    };
  }
}

/** The index of a whole catalog; rows are those of `catalog.events` and `catalog.tags`. */
export function buildSearchIndex(catalog: Catalog): SearchIndex {
  const builder = new SearchIndexBuilder();
  for (const texts of searchTexts(catalog)) builder.add(texts);
  return builder.build();
}

/** One kind of object. */
class WordIndex {
  private readonly mini: MiniSearch;
  private readonly scores: Float64Array;
  /** How many words of the query a row has. */
  private readonly found: Uint8Array;

  constructor(boosts: Readonly<Record<string, number>>, collected: CollectedWords) {
    this.scores = new Float64Array(collected.rows);
    this.found = new Uint8Array(collected.rows);
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

  get rows(): number {
    return this.lengths.length;
  }

  /** @param texts of the next row, one for each field */
  add(texts: readonly string[]): void {
    const first = this.lengths.length * this.fields.length;
    this.lengths.push(
      texts.map((text, field) => {
        let count = 0;
        eachWord(text, (word) => {
          if (this.take(word, first, field)) count += 1;
        });
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
