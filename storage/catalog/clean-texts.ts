/**
 * Texts of catalog objects from elsewhere: an import and a sync keep every object, and report the cleaned ones.
 * Free-form objects (`eventMetadata`) stay unchanged: nothing prints them. Rules: docs/protocol.md#texts
 *
 * Pure; any thread.
 */
import { cleanLine, cleanName, cleanProse } from '../texts/door.ts';
import type { Tally } from './catalog-collect.ts';
import { isObject, type JsonObject, textList } from './catalog-json.ts';

const CLEANERS: ReadonlyMap<string, (text: string) => string> = new Map([
  ...['description', 'resolutionSource'].map((name) => [name, cleanProse] as const),
  ...['title', 'question', 'slug', 'ticker', 'label'].map((name) => [name, cleanName] as const),
]);
const NESTED = ['markets', 'tags', 'series'];

export function cleanTexts(kind: string, list: readonly unknown[], tally: Tally): unknown[] {
  return list.map((item) => (isObject(item) ? cleanObject(kind, item, tally) : item));
}

function cleanObject(kind: string, object: JsonObject, tally: Tally): JsonObject {
  let clean: Record<string, unknown> | undefined;
  let wasBad = false;
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (typeof value !== 'string' && !Array.isArray(value)) continue;
    const nested = typeof value !== 'string' && NESTED.includes(name);
    const cleaned = nested ? cleanNested(name, value, tally) : cleanValue(name, value);
    if (cleaned === value) continue;
    clean ??= { ...object };
    clean[name] = cleaned;
    wasBad ||= !nested;
  }
  if (wasBad) tally.add(`${kind} with unprintable or overlong texts: cleaned`, String(object.id));
  return clean ?? object;
}

function cleanNested(kind: string, list: readonly unknown[], tally: Tally): readonly unknown[] {
  const cleaned = cleanTexts(kind, list, tally);
  return cleaned.some((item, i) => item !== list[i]) ? cleaned : list;
}

function cleanValue(name: string, value: unknown): unknown {
  if (name === 'outcomes') return cleanOutcomes(value);
  if (typeof value !== 'string') return value;
  return (CLEANERS.get(name) ?? cleanLine)(value);
}

/**
 * Cleans names in a list, or in the JSON text of one, in which a control character is an escape.
 */
function cleanOutcomes(value: unknown): unknown {
  // Nearly all are JSON without an escape, and need not be parsed.
  if (typeof value === 'string' && !value.includes('\\') && cleanName(value) === value)
    return value;
  const names = textList(value);
  const clean = names?.map(cleanName);
  if (clean === undefined || clean.every((name, i) => name === names![i])) return value;
  return typeof value === 'string' ? JSON.stringify(clean) : clean;
}
