/**
 * Command lines as tables: from one table come the parser's rules, the defaults and the help.
 * Thread: any.
 * Non-goals: positional arguments, short names, options that come twice.
 */
import { parseArgs } from 'node:util';

type OptionRow =
  | { readonly kind: 'switch'; readonly help: string }
  | { readonly kind: 'text'; readonly value: string; readonly help: string }
  | {
      readonly kind: 'count';
      /** Name of the number in the help. */
      readonly value: string;
      readonly help: string;
      readonly default: number;
      /** 1 when absent. */
      readonly min?: number;
      readonly max: number;
    };

export type OptionTable = Readonly<Record<string, OptionRow>>;

/** The values of one command line; what is wrong with them gathers in `problems`. */
export class OptionValues {
  readonly problems: string[] = [];
  readonly #table: OptionTable;
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(table: OptionTable, values: Readonly<Record<string, unknown>>) {
    this.#table = table;
    this.#values = values;
  }

  isOn(name: string): boolean {
    return this.#value(name) === true;
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** A whole number inside the bounds of its row, its default when absent. */
  count(name: string): number {
    const row = this.#table[name];
    if (row?.kind !== 'count') throw new Error(`--${name} is no number of this table`);
    const { default: fallback, min = 1, max } = row;
    const value = this.text(name) ?? String(fallback);
    const isWhole = /^(?:0|[1-9]\d{0,8})$/.test(value);
    if (isWhole && Number(value) >= min && Number(value) <= max) return Number(value);
    this.problems.push(`--${name} must be a whole number from ${min} to ${max}, it is "${value}"`);
    return fallback;
  }

  #value(name: string): unknown {
    if (this.#table[name] === undefined) throw new Error(`--${name} is not in the table`);
    return this.#values[name];
  }
}

type Read =
  | { readonly ok: true; readonly values: OptionValues }
  | { readonly ok: false; readonly problem: string };

/** Reads a command line. The problem is the text `help` for --help. */
export function readOptions(table: OptionTable, argv: readonly string[]): Read {
  const options: Record<string, { type: 'string' | 'boolean' }> = { help: { type: 'boolean' } };
  for (const [name, row] of Object.entries(table)) {
    options[name] = { type: row.kind === 'switch' ? 'boolean' : 'string' };
  }
  try {
    const { values } = parseArgs({ args: [...argv], strict: true, options });
    if (values.help === true) return { ok: false, problem: 'help' };
    return { ok: true, values: new OptionValues(table, values) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

const NAME_COLUMN = 20;

/** One line an option, numbers with their default. */
export function optionHelp(table: OptionTable): string {
  const lines = Object.entries(table).map(([name, row]) => {
    const left = row.kind === 'switch' ? `--${name}` : `--${name} ${row.value}`;
    const right = row.kind === 'count' ? `${row.help} (${row.default})` : row.help;
    return `  ${left.padEnd(NAME_COLUMN - 1)} ${right}`;
  });
  return lines.join('\n');
}
