/**
 * A query string read the plain way, for the naive answers of the catalog routes: every fault is
 * kept, because which of several a server names first is its own affair.
 *
 * Non-goals: which names a route knows.
 */

export class NaiveQuery {
  /** One entry per fault: the texts that a `detail` about it has to contain. */
  readonly faults: string[][] = [];
  readonly #pairs: (readonly [name: string, value: string])[] = [];

  constructor(query: string) {
    for (const part of query.split('&')) {
      const equals = part.indexOf('=');
      const name = decoded(equals < 0 ? part : part.slice(0, equals));
      if (name !== undefined) this.#pairs.push([name, equals < 0 ? '' : part.slice(equals + 1)]);
    }
  }

  /** The one value that a parameter has under all of its names; equal is what means the same. */
  value(
    names: readonly string[],
    meaning = (text: string) => text,
    isValue = (_text: string) => true,
  ): string | undefined {
    const values = new Map<string | undefined, string>();
    for (const [name, value] of this.#pairs) {
      if (!names.includes(name)) continue;
      const text = decoded(value);
      if (text === undefined) this.faults.push([name]);
      else if (isValue(text)) values.set(meaning(text), name);
    }
    if (values.size > 1) this.faults.push([...new Set(values.values())]);
    return [...values.keys()][0];
  }

  /** A text filter; an empty one is none, and no value either. */
  text(names: readonly string[], meaning?: (text: string) => string): string | undefined {
    return this.value(names, meaning, (text) => text !== '');
  }

  flag(name: string): boolean | undefined {
    const spelled = new Map([
      ['1', 'true'],
      ['0', 'false'],
    ]);
    const value = this.value([name], (text) => spelled.get(text) ?? text);
    if (value === undefined) return undefined;
    if (!['true', 'false'].includes(value)) this.faults.push([name]);
    return value === 'true';
  }

  integer(name: string, fallback: number, min: number, max: number): number;
  integer(name: string, fallback: undefined, min: number, max: number): number | undefined;
  integer(name: string, fallback: number | undefined, min: number, max: number) {
    const value = this.value([name]);
    if (value === undefined) return fallback;
    const isInside = /^[0-9]+$/.test(value) && BigInt(value) >= min && BigInt(value) <= max;
    if (!isInside) this.faults.push([name]);
    return Number(value);
  }

  page(): { readonly limit: number; readonly offset: number } {
    const limit = this.integer('limit', 100, 1, 500);
    return { limit, offset: this.integer('offset', 0, 0, Number.MAX_SAFE_INTEGER) };
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
