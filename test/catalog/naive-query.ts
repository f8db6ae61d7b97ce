/**
 * A plain reader of query strings for the naive answers. It keeps every fault, because the server
 * may name any one of several first.
 *
 * Non-goals: names that a route knows.
 */

export class NaiveQuery {
  /** One entry per fault: the texts that its `detail` has to contain. */
  readonly faults: string[][] = [];
  readonly #pairs: (readonly [name: string, value: string])[] = [];

  constructor(query: string) {
    for (const part of query.split('&')) {
      const equals = part.indexOf('=');
      const name = decoded(equals < 0 ? part : part.slice(0, equals));
      if (name !== undefined) this.#pairs.push([name, equals < 0 ? '' : part.slice(equals + 1)]);
    }
  }

  /**
   * All values of a parameter under all of its names, each once. Values with equal meaning are
   * equal.
   */
  values(
    names: readonly string[],
    meaning = (text: string) => text,
    isValue = (_text: string) => true,
    separator?: string,
  ): Map<string, string> {
    const values = new Map<string, string>();
    for (const [name, value] of this.#pairs) {
      if (!names.includes(name)) continue;
      const text = decoded(value);
      if (text === undefined) this.faults.push([name]);
      else if (isValue(text)) {
        const parts = separator === undefined ? [text] : text.split(separator);
        for (const part of parts) values.set(meaning(part), name);
      }
    }
    return values;
  }

  /** The single value of a parameter; more than one is a fault. */
  value(
    names: readonly string[],
    meaning?: (text: string) => string,
    isValue?: (text: string) => boolean,
  ): string | undefined {
    const values = this.values(names, meaning, isValue);
    if (values.size > 1) this.faults.push([...new Set(values.values())]);
    return [...values.keys()][0];
  }

  /** A text filter; an empty one is absent and no value either. */
  text(names: readonly string[], meaning?: (text: string) => string): string | undefined {
    return this.value(names, meaning, (text) => text !== '');
  }

  addFault(names: readonly string[]): void {
    for (const name of names) this.faults.push([name]);
  }

  flag(names: readonly string[]): boolean | undefined {
    const spelled = new Map([
      ['1', 'true'],
      ['0', 'false'],
    ]);
    const isTruth = (text: string) => ['true', 'false', '1', '0'].includes(text);
    const isAny = (text: string) => {
      if (!isTruth(text)) this.addFault(names);
      return true;
    };
    const value = this.value(names, (text) => spelled.get(text) ?? text, isAny);
    return value === undefined ? undefined : value === 'true';
  }

  /** Whole numbers, which may have leading zeros. */
  numbers(names: readonly string[], many: boolean, separator?: string): number[] {
    const whole = (text: string) => (/^[0-9]+$/.test(text) ? String(BigInt(text)) : text);
    const values = this.values(names, whole, undefined, separator);
    if (!many && values.size > 1) this.faults.push([...new Set(values.values())]);
    return [...values.keys()].map((text) => {
      const isInside = /^[0-9]+$/.test(text) && BigInt(text) < 10n ** 15n;
      if (!isInside) this.addFault(names);
      return Number(text);
    });
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
