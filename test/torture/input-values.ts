/**
 * Values from schemas: fitting ones, and ones that nearly fit. Members that a schema leaves open
 * are drawn from the node's tokens, markets, orders and keys, and from values that have broken
 * parsers before.
 */
import type { TSchema } from '../../server/common/schema.ts';
import type { Random } from '../common/random.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

const DEPTH_MAX = 40;
const ITEMS_MAX = 6;

const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '1e400',
  '0x',
  `0x${'0'.repeat(64)}`,
  `0x${'f'.repeat(40)}`,
  '9'.repeat(78),
  '9'.repeat(2_000),
  'null',
  'true',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  '%00',
  '\u0000',
  '\ud800',
  '\u202e\uffff',
  'ü'.repeat(300),
  '"',
  '\\',
  "' or 1=1",
  '<script>',
  '{"a":1}',
  '1;2',
  'LTE=',
  'MA==',
  'NaN',
];
const HOSTILE_NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e-9,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  2 ** 53 + 2,
  1e21,
  1e308,
  4_294_967_296,
];

export class Values {
  private readonly random: Random;
  /** Ids, addresses and slugs of the node. */
  private readonly known: readonly string[];

  constructor(random: Random, known: readonly string[]) {
    this.random = random;
    this.known = known;
  }

  /** A value that fits the schema, or, now and then, breaks it somewhere. */
  of(schema: TSchema | undefined): unknown {
    const { random } = this;
    const value = schema === undefined ? this.any(3) : this.fitting(schema as Schema);
    return random.chance(50) ? value : this.spoiled(value);
  }

  text(): string {
    const { random } = this;
    const draw = random.below(100);
    if (draw < 60) return random.pick(this.known);
    if (draw < 90) return random.pick(HOSTILE_TEXTS);
    const length = random.below(40);
    return String.fromCharCode(...Array.from({ length }, () => random.below(0xd800)));
  }

  /** Text of a body: serialised, now and then cut, doubled or with a character changed. */
  bodyText(value: unknown): string {
    const { random } = this;
    const text = JSON.stringify(value) ?? '';
    const draw = random.below(100);
    if (draw < 85) return text;
    const at = random.below(text.length + 1);
    if (draw < 90) return text.slice(0, at);
    if (draw < 93) return text + text;
    if (draw < 96) return '['.repeat(random.below(5_000));
    return `${text.slice(0, at)}${random.pick(HOSTILE_TEXTS)}${text.slice(at + 1)}`;
  }

  /** A query string for the parameters of a schema; percent signs may be anywhere. */
  query(schema: TSchema, isForPath: (name: string) => boolean): string {
    const { random } = this;
    const properties = (schema as Schema).properties ?? {};
    const pairs: string[] = [];
    for (const [name, property] of Object.entries(properties)) {
      const isWanted = !isForPath(name) && random.chance(45);
      const times = isWanted ? 1 + (random.chance(5) ? 1 : 0) : 0;
      for (let i = 0; i < times; i++) pairs.push(`${name}=${this.parameter(property)}`);
    }
    if (random.chance(5)) pairs.push(`${encodeURIComponent(this.text().toWellFormed())}=1`);
    return pairs.join('&');
  }

  /** A value of a query or a path, percent-encoded, mostly correctly. */
  parameter(property: Schema): string {
    const { random } = this;
    const draw = random.below(100);
    const value = draw < 60 ? this.fitting(property) : this.text();
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const encoded = encodeURIComponent(text.toWellFormed());
    if (draw < 95) return encoded;
    return `${encoded}${random.pick(['%', '%zz', '%ff', '%c0%af', '+', '&&', '='])}`;
  }

  private fitting(schema: Schema): unknown {
    const { random } = this;
    if (schema.const !== undefined) return schema.const;
    if (schema.anyOf !== undefined) return this.fitting(random.pick(schema.anyOf));
    switch (schema.type) {
      case 'string':
        return this.text();
      case 'boolean':
        return random.chance(50);
      case 'null':
        return null;
      case 'integer':
      case 'number':
        return this.number(schema);
      case 'array': {
        const length = Math.min(random.below(ITEMS_MAX), schema.maxItems ?? ITEMS_MAX);
        return Array.from({ length }, () => this.fitting(schema.items ?? {}));
      }
      case 'object':
        return this.object(schema);
      default:
        return this.any(3);
    }
  }

  private number({ maximum = 1e9, minimum = -10 }: Schema): number {
    const { random } = this;
    if (random.chance(30)) return random.pick(HOSTILE_NUMBERS);
    return minimum + Math.floor((random.below(1_000_000) / 1_000_000) * (maximum - minimum));
  }

  private object({ patternProperties, properties = {}, required = [] }: Schema): object {
    const { random } = this;
    const entries = Object.entries(properties)
      .filter(([name]) => required.includes(name) || random.chance(60))
      .map(([name, schema]) => [name, this.fitting(schema)] as const);
    for (const schema of Object.values(patternProperties ?? {})) {
      entries.push([this.text(), this.fitting(schema)]);
    }
    return Object.fromEntries(entries);
  }

  /** A value with one part replaced, left out or added. */
  private spoiled(value: unknown): unknown {
    const { random } = this;
    if (typeof value !== 'object' || value === null || random.chance(15)) return this.any(3);
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    const names = Object.keys(copy);
    if (names.length === 0 || random.chance(15)) {
      copy[Array.isArray(value) ? '0' : this.text()] = this.any(3);
      return copy;
    }
    const name = random.pick(names);
    if (random.chance(20) && !Array.isArray(value)) delete copy[name];
    else copy[name] = this.spoiled(copy[name]);
    return copy;
  }

  private any(depth: number): unknown {
    const { random } = this;
    const draw = random.below(100);
    if (draw < 15) return null;
    if (draw < 25) return random.chance(50);
    if (draw < 45) return random.pick(HOSTILE_NUMBERS);
    if (draw < 75 || depth === 0) return this.text();
    if (draw < 78) return this.deep();
    if (draw < 89) return Array.from({ length: random.below(4) }, () => this.any(depth - 1));
    return Object.fromEntries(
      Array.from({ length: random.below(4) }, () => [this.text(), this.any(depth - 1)]),
    );
  }

  private deep(): unknown {
    let value: unknown = 1;
    for (let i = this.random.below(DEPTH_MAX); i > 0; i--)
      value = i % 2 === 0 ? [value] : { value };
    return value;
  }
}
