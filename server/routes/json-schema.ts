/**
 * Shapes of the route table as JSON Schema (2020-12) for the documents. Named shapes are defined once and
 * referenced, unions of words become enums, and members for parsers alone are left out.
 *
 * Thread: any; pure.
 */
import type { TSchema } from '../common/schema.ts';

export type Json = { readonly [name: string]: unknown };

/** Members of shapes that only parsers use: the text of a reject, and other spellings of a name. */
const PRIVATE: readonly string[] = ['error', 'spellingOf', 'many'];

export class Schemas {
  readonly used: Record<string, Json> = {};
  private readonly names: ReadonlyMap<unknown, string>;

  constructor(names: ReadonlyMap<unknown, string>) {
    this.names = names;
  }

  of(schema: TSchema): Json {
    return this.transform(schema) as Json;
  }

  private transform(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.transform(each));
    if (typeof value !== 'object' || value === null) return value;
    const name = this.names.get(value);
    if (name === undefined) return this.membersOf(value as Json);
    if (!(name in this.used)) {
      this.used[name] = {};
      this.used[name] = this.membersOf(value as Json);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private membersOf(schema: Json): Json {
    const { anyOf } = schema;
    const isOfWords = Array.isArray(anyOf) && anyOf.every(isPlainWord);
    const members: Record<string, unknown> = isOfWords
      ? { type: 'string', enum: anyOf.map(({ const: word }: Json) => word) }
      : {};
    for (const [name, value] of Object.entries(schema)) {
      if (PRIVATE.includes(name) || (isOfWords && name === 'anyOf')) continue;
      const isMap = name === 'properties' || name === 'patternProperties';
      members[name] = isMap ? this.mapOf(value as Json) : this.transform(value);
    }
    return members;
  }

  /** Keys of this object are names of members; none is a keyword of JSON Schema. */
  private mapOf(members: Json): Json {
    return Object.fromEntries(
      Object.entries(members).map(([name, member]) => [name, this.transform(member)]),
    );
  }
}

/** Returns true for a single word without further keywords. */
function isPlainWord(schema: Json): boolean {
  return typeof schema.const === 'string' && Object.keys(schema).length === 2;
}
