/**
 * The texts of a catalog that are searched, as plain texts: the thread that reads the catalog sends
 * them to the one that searches it. Texts of one row and field are joined by line breaks. If a text
 * mostly repeats the one before, only its differing part is used.
 *
 * Pure; any thread. Non-goals: words.
 */
import type { Catalog } from '../../storage/catalog/catalog-file.ts';
import { isObject, type JsonObject, marketsOf, text } from '../../storage/catalog/catalog-json.ts';

/** Fields in the order of their weight; a row's texts are in this order. */
export const SEARCH_FIELDS = {
  events: { title: 8, questions: 4, tags: 2, descriptions: 1 },
  tags: { label: 2, slug: 1 },
} as const;

/** Texts of some rows; rows of a kind come in ascending order. */
export interface SearchTexts {
  readonly kind: keyof typeof SEARCH_FIELDS;
  readonly rows: readonly (readonly string[])[];
}

const ROWS_TOGETHER = 256;

export function* searchTexts(catalog: Catalog): Generator<SearchTexts> {
  const tags = new Map(catalog.tags.map((tag) => [String(tag.id), tag]));
  yield* inChunks('events', catalog.events, (event) => eventTexts(event, tags));
  yield* inChunks('tags', catalog.tags, (tag) => [text(tag.label), text(tag.slug)]);
}

function* inChunks(
  kind: SearchTexts['kind'],
  objects: readonly JsonObject[],
  textsOf: (object: JsonObject) => readonly string[],
): Generator<SearchTexts> {
  for (let at = 0; at < objects.length; at += ROWS_TOGETHER) {
    yield { kind, rows: objects.slice(at, at + ROWS_TOGETHER).map(textsOf) };
  }
}

function eventTexts(event: JsonObject, tags: ReadonlyMap<string, JsonObject>): readonly string[] {
  const markets = marketsOf(event);
  const named: readonly unknown[] = Array.isArray(event.tags) ? event.tags : [];
  const own = named.filter(isObject).map((tag) => tags.get(String(tag.id)) ?? tag);
  return [
    text(event.title),
    joined(markets.map((market) => text(market.question))),
    joined(own.flatMap((tag) => [text(tag.label), text(tag.slug)])),
    joined([text(event.description), ...markets.map(({ description }) => text(description))]),
  ];
}

function joined(texts: readonly string[]): string {
  let previous = '';
  let all = '';
  for (const text of texts) {
    const rest = differingPart(previous, text);
    if (rest !== '') all += all === '' ? rest : `\n${rest}`;
    previous = text;
  }
  return all;
}

/**
 * Returns `text` without the beginning and end that it shares with `previous`, cut at spaces. Texts
 * of one event often differ only in a name.
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
