/**
 * Short forms of schemas with a description, for members of inputs and answers.
 *
 * Thread: any; pure.
 */
import { type TSchema, Type } from '../common/schema.ts';

type Options = Readonly<Record<string, number | string>>;

export function text(description?: string, options?: Options) {
  return Type.String(described(options, description));
}

export function whole(description?: string, options?: Options) {
  return Type.Integer(described(options, description));
}

export function flag(description?: string) {
  return Type.Boolean(described({}, description));
}

export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Union(
    words.map((word) => Type.Literal<Words[number]>(word)),
    described({}, description),
  );
}

export function orNull<Schema extends TSchema>(schema: Schema, absence: string) {
  return Type.Union([schema, Type.Null({ description: absence })]);
}

function described(options: Options | undefined, description: string | undefined) {
  return description === undefined ? options : { ...options, description };
}
