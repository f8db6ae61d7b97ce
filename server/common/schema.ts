/**
 * Single entry point to the package @sinclair/typebox: shapes of JSON bodies, each compiled to a plain
 * function on first use.
 *
 * Thread: any. Non-goals: coercion, defaults, transforms. The meaning of a value is left to its
 * parser.
 */
import assert from 'node:assert/strict';
import {
  FormatRegistry,
  Kind,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, ValueErrorType } from '@sinclair/typebox/compiler';

export { type Static, type TObject, type TProperties, type TSchema, Type };

export function registerFormat(name: string, passes: (text: string) => boolean): void {
  FormatRegistry.Set(name, passes);
}

export function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && Kind in value;
}

export interface Fault {
  /** Member names from the value inwards; none when the value itself is wrong. */
  readonly path: readonly string[];
  /** The last member of `path` is missing. */
  readonly missing: boolean;
}

export interface Shape<T> {
  /** Runs the compiled check: allocates nothing. */
  matches(value: unknown): value is T;
  /** Only for a value that does not match. It is slow. */
  fault(value: unknown): Fault;
}

export function compileShape<S extends TSchema>(schema: S): Shape<Static<S>> {
  let compiled: TypeCheck<S> | undefined;
  // Throws where code generation is blocked, so that a slow fallback is never used unnoticed.
  const validator = (): TypeCheck<S> => (compiled ??= TypeCompiler.Compile(schema));
  return {
    matches: (value): value is Static<S> => validator().Check(value),
    fault(value) {
      const first = validator().Errors(value).First();
      assert(first !== undefined, 'a value that does not match has a fault');
      const path = first.path.split('/').slice(1);
      return { path, missing: first.type === ValueErrorType.ObjectRequiredProperty };
    },
  };
}
