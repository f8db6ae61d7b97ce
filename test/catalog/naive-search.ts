/**
 * Expected matches of GET /public-search, as sets of events and tags. The search index alone
 * decides the ranking, which tests check by examples.
 */
import type { NaiveCatalog, NaiveEvent, NaiveTag, Raw } from './naive-catalog.ts';
import type { NaiveQuery } from './naive-query.ts';

export type SearchAnswer =
  | { readonly kind: 'bad request'; readonly faults: readonly (readonly string[])[] }
  | {
      readonly kind: 'search';
      readonly events: readonly NaiveEvent[];
      readonly isSorted: boolean;
      /** Tags in the form of search results, by id. */
      readonly tags: readonly Raw[];
      readonly limit: number;
      readonly page: number;
    };

/** @param keep events that pass the filters of lists, in their order */
export function searchAnswer(
  seen: NaiveCatalog,
  query: NaiveQuery,
  keep: (events: readonly NaiveEvent[], query: NaiveQuery) => readonly NaiveEvent[],
): SearchAnswer {
  const q = query.text(['q']) ?? '';
  if (q.trim() === '') query.faults.push(['q']);
  const limit = query.integer('limit_per_type', 25, 1, 500);
  const page = query.integer('page', 1, 1, Number.MAX_SAFE_INTEGER);
  const withTags = query.flag(['search_tags']) ?? true;
  query.flag(['search_profiles']);
  query.flag(['keep_closed_markets']);
  const events = keep(seen.events, query);
  if (query.faults.length > 0) return { kind: 'bad request', faults: query.faults };
  const wanted = wordsOf(q);
  return {
    kind: 'search',
    events: events.filter((event) => matches(wanted, eventWords(event))),
    isSorted: query.text(['sort']) !== undefined,
    tags: seen.tags
      .filter((tag) => withTags && matches(wanted, tagWords(tag)))
      .map(({ shown, events }) => {
        const { id, label, slug } = shown;
        return { id, label, slug, event_count: events.length };
      }),
    limit,
    page,
  };
}

/** All words must be present, the last one as a prefix of a word. */
function matches(wanted: readonly string[], words: ReadonlySet<string>): boolean {
  const last = wanted.at(-1);
  if (last === undefined) return false;
  if (!wanted.slice(0, -1).every((word) => words.has(word))) return false;
  for (const word of words) if (word.startsWith(last)) return true;
  return false;
}

const remembered = new WeakMap<Raw, ReadonlySet<string>>();

function eventWords(event: NaiveEvent): ReadonlySet<string> {
  // Through a creator's eyes an event has fewer markets; it is found by its whole text all the same.
  const { shown, tags, markets } = event.markets[0]?.event ?? event;
  return words(shown, () => [
    shown.title,
    shown.description,
    ...tags.flatMap((tag) => [tag.shown.label, tag.shown.slug]),
    ...markets.flatMap((market) => [market.shown.question, market.shown.description]),
  ]);
}

function tagWords({ shown }: NaiveTag): ReadonlySet<string> {
  return words(shown, () => [shown.label, shown.slug]);
}

function words(shown: Raw, texts: () => readonly unknown[]): ReadonlySet<string> {
  const held = remembered.get(shown);
  if (held !== undefined) return held;
  const found = new Set(texts().flatMap((text) => wordsOf(String(text))));
  remembered.set(shown, found);
  return found;
}

/**
 * Runs of letters and digits, case and diacritics folded. Chinese has no spaces: each run is one
 * word here, and no test searches for a part of one.
 */
export function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const plain = folded.replace(/[łø]/g, (letter) => (letter === 'ł' ? 'l' : 'o'));
  return plain.match(/\p{sc=Han}+|(?:(?!\p{sc=Han})[\p{L}\p{N}])+/gu) ?? [];
}
