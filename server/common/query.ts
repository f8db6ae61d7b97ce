/**
 * Query strings to checked values, from a typebox schema that is also what the API document shows.
 *
 * A parameter is an integer, a number, a boolean (`true`, `false`, `1`, `0`) or a text; `+` is a space.
 * An empty value counts as absent, because some clients send names without values. A parameter that is
 * repeated has to have one value. Unknown names are ignored. The property of a schema may carry
 * `error`, the text of the member `error` when it is missing or breaks its rule.
 *
 * Thread: any; pure. Non-goals: whether what is asked for exists.
 */
import { errorBody } from './error-bodies.ts';
import { compileShape, type Shape, type Static, type TObject, type TSchema } from './schema.ts';

/** How one route reads its query. */
export interface QuerySpec<Query> {
  /** For the API document and for tests that make requests. */
  readonly schema: TObject;
  /**
   * @param query without `?`, '' when absent
   * @param fromPath values of the path's parameters, still percent-encoded
   * @returns the checked values, or the JSON body of a 400
   */
  readonly parse: (query: string, fromPath: readonly string[]) => Query | string;
}

interface Parameter {
  readonly name: string;
  readonly type: 'integer' | 'number' | 'boolean' | 'string';
  readonly shape: Shape<unknown>;
  readonly required: boolean;
  readonly unset: unknown;
  /** JSON body of the 400. */
  readonly refusal: string;
}

/** What a property of a query schema may carry beside its own rule. */
interface ParameterOptions {
  readonly type?: string;
  readonly default?: unknown;
  readonly error?: string;
  readonly description?: string;
}

/** No parameter at all. */
export const NO_QUERY: QuerySpec<Record<string, never>> = {
  schema: { type: 'object', properties: {}, required: [] } as unknown as TObject,
  parse: () => NOTHING,
};
const NOTHING: Record<string, never> = {};

/**
 * @param pathNames properties that the path gives, in the order of its parts; a path wins over the
 *   query string
 */
export function compileQuery<S extends TObject>(
  schema: S,
  pathNames: readonly string[] = [],
): QuerySpec<Static<S>> {
  const parameters = new Map(
    Object.entries(schema.properties as Record<string, TSchema>).map(([name, property]) => [
      name,
      parameterOf(name, property, (schema.required as string[] | undefined) ?? []),
    ]),
  );
  const fromPath = pathNames.map((name) => parameters.get(name)!);
  return {
    schema,
    parse(query, pathValues) {
      const found: Record<string, unknown> = {};
      for (let i = 0; i < fromPath.length; i++) {
        const problem = take(found, fromPath[i]!, decodeText(pathValues[i] ?? ''));
        if (problem !== '') return problem;
      }
      const problem = query === '' ? '' : readPairs(query, parameters, pathNames, found);
      if (problem !== '') return problem;
      for (const { name, required, refusal, unset } of parameters.values()) {
        if (found[name] !== undefined) continue;
        if (required) return refusal;
        if (unset !== undefined) found[name] = unset;
      }
      return found as Static<S>;
    },
  };
}

function parameterOf(name: string, schema: TSchema, required: readonly string[]): Parameter {
  const options = schema as ParameterOptions;
  const type = options.type;
  const rule = options.description === undefined ? '' : `${name} must be ${options.description}`;
  return {
    name,
    type: type === 'integer' || type === 'number' || type === 'boolean' ? type : 'string',
    shape: compileShape(schema),
    required: required.includes(name),
    unset: options.default,
    refusal:
      options.error === undefined
        ? errorBody(`invalid ${name}`, rule)
        : errorBody(options.error, rule),
  };
}

/** Reads every pair that names a parameter; the body of a refusal, or ''. */
function readPairs(
  query: string,
  parameters: ReadonlyMap<string, Parameter>,
  pathNames: readonly string[],
  found: Record<string, unknown>,
): string {
  return eachPair(query, (name, value) => {
    const parameter = parameters.get(decodeText(name) ?? '');
    if (parameter === undefined || pathNames.includes(parameter.name)) return '';
    return take(found, parameter, decodeText(value));
  });
}

/**
 * Gives every pair of a query string to `see`, both parts as they were sent, '' where one is absent; ends
 * with the first problem that it returns, '' = none.
 */
export function eachPair(query: string, see: (name: string, value: string) => string): string {
  for (let start = 0, end = 0; start < query.length; start = end + 1) {
    end = query.indexOf('&', start);
    if (end === -1) end = query.length;
    if (end === start) continue;
    const equals = query.indexOf('=', start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const problem = see(query.slice(start, nameEnd), query.slice(nameEnd + 1, end));
    if (problem !== '') return problem;
  }
  return '';
}

/** Takes one value; the body of a refusal, or ''. */
function take(
  found: Record<string, unknown>,
  { name, refusal, shape, type }: Parameter,
  text: string | undefined,
): string {
  if (text === '') return '';
  const value = text === undefined ? undefined : readValue(type, text);
  if (value === undefined || !shape.matches(value)) return refusal;
  if (found[name] !== undefined && found[name] !== value) return refusal;
  found[name] = value;
  return '';
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

function readValue(type: Parameter['type'], text: string): unknown {
  if (type === 'string') return text;
  if (type === 'integer') return INTEGER.test(text) ? Number(text) : undefined;
  if (type === 'number') return NUMBER.test(text) ? Number(text) : undefined;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/** Undefined for what is not percent-encoded UTF-8; `+` is a space. */
export function decodeText(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
