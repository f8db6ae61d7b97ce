/**
 * The client's types as a file: every route's query, body and answer, and every message of the
 * streams, from the schemas that the node checks requests with. Exported shapes keep their names.
 *
 * Pure. Non-goals: patterns and bounds, which types cannot express.
 */

import { CODE_BY_BEGINNING, CODE_BY_TEXT } from '../../server/common/error-bodies.ts';
import { REFUSALS } from '../../server/common/refusals.ts';
import type { TSchema } from '../../server/common/schema.ts';
import type { RouteRow } from '../../server/http/route.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { SHAPE_NAMES } from '../../server/routes/shapes.ts';
import { STREAM_TABLE } from '../../server/streams/messages.ts';

/** Indentation of prettier and of this repository's formatter. */
const INDENT = '  ';

interface Json {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Json[];
  readonly allOf?: readonly Json[];
  readonly items?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Json>>;
  readonly default?: unknown;
}

export function clientTypes(): string {
  const names = namesOf();
  const named = [...names].map(([schema, name]) =>
    declaration(name, typeOf(schema, new Map([...names].filter(([s]) => s !== schema)))),
  );
  const events = Object.entries(STREAM_TABLE).flatMap(([path, { events: rows }]) => [
    ...Object.entries(rows).map(([name, { schema }]) =>
      declaration(eventName(path, name), typeOf(schema as Json, names)),
    ),
    `export type ${streamName(path)} =\n${Object.keys(rows)
      // It has no event_type; the client's streams turn it into an error.
      .filter((name) => name !== 'error')
      .map((name) => `${INDENT}| ${eventName(path, name)}`)
      .join('\n')};`,
  ]);
  const rows = Object.entries(ROUTE_TABLE as Readonly<Record<string, RouteRow>>).filter(
    ([, { isPage }]) => isPage !== true,
  );
  const routes = rows.map(([key, row]) => routeText(key, row, names));
  const access = rows
    .filter(([, row]) => row.access !== 'none')
    .map(([key, row]) => `${INDENT}'${key}': '${row.access}',`);
  return [
    HEAD,
    ...[...named, ...events].sort(),
    `/** Codes of refusals, which never change. */`,
    `export const REFUSAL_CODES = [\n${Object.keys(REFUSALS)
      .map((code) => `${INDENT}'${code}',`)
      .join('\n')}\n] as const;\n`,
    `export type RefusalCode = (typeof REFUSAL_CODES)[number];\n`,
    `/** Codes by the whole text of a refusal. */`,
    codesByText('CODE_BY_TEXT', CODE_BY_TEXT),
    `/** Codes by the beginning of a text, where the rest varies. */`,
    codesByText('CODE_BY_BEGINNING', CODE_BY_BEGINNING),
    `/** Query, body and answer of each route; path parameters stand in the query. */`,
    `export interface Routes {\n${routes.join('\n')}\n}`,
    `/** Credentials that a route asks for; the others are open to everybody. */`,
    `export const ACCESS = {\n${access.join('\n')}\n} as const;\n`,
  ].join('\n');
}

function codesByText(name: string, codes: Iterable<readonly [string, string]>): string {
  const quoted = (text: string) => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);
  const rows = [...codes].map(([text, code]) => `${INDENT}[${quoted(text)}, '${code}'],`);
  return `export const ${name}: ReadonlyMap<string, RefusalCode> = new Map([\n${rows.join('\n')}\n]);\n`;
}

const HEAD = `/**
 * Generated from the schemas of the node's table of routes and of its streams: \`npm run client:types\`
 * writes it anew, and a test holds it up to date.
 */
`;

/** Named shapes of answers, bodies and items. */
function namesOf(): Map<Json, string> {
  const used = new Set<unknown>();
  for (const row of Object.values(ROUTE_TABLE) as RouteRow[]) {
    mark(row.answer, used);
    if (row.body !== undefined) mark(row.body, used);
  }
  const named = [...SHAPE_NAMES].filter(
    ([shape]) => used.has(shape) && isWorthAName(shape as Json),
  );
  return new Map(named.map(([shape, name]) => [shape as Json, name]));
}

/** Marks a schema and its parts as used. */
function mark(schema: TSchema, used: Set<unknown>): void {
  used.add(schema);
  const { anyOf = [], items, properties = {} } = schema as Json;
  for (const part of [...anyOf, ...(items === undefined ? [] : [items])])
    mark(part as TSchema, used);
  for (const part of Object.values(properties)) mark(part as TSchema, used);
}

function isWorthAName({ items, properties }: Json): boolean {
  return properties !== undefined || items?.properties !== undefined;
}

function routeText(key: string, row: RouteRow, names: ReadonlyMap<Json, string>): string {
  const query = typeOf(row.query.schema as Json, names, 2);
  const body = row.body === undefined ? 'undefined' : typeOf(row.body as Json, names, 2);
  return [
    `${INDENT}'${key}': {`,
    `${INDENT.repeat(2)}query: ${query};`,
    `${INDENT.repeat(2)}body: ${body};`,
    `${INDENT.repeat(2)}answer: ${typeOf(row.answer as Json, names, 2)};`,
    `${INDENT}};`,
  ].join('\n');
}

function declaration(name: string, type: string): string {
  return type.startsWith('{')
    ? `export interface ${name} ${type}\n`
    : `export type ${name} = ${type};\n`;
}

function streamName(path: string): string {
  return path === '/ws/market' ? 'MarketEvent' : 'UserEvent';
}

function eventName(path: string, name: string): string {
  const words = name.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  const isShared = name === 'error' || name === 'subscription';
  return `${isShared ? streamName(path).replace('Event', '') : ''}${words.join('')}Event`;
}

function typeOf(schema: Json, names: ReadonlyMap<Json, string>, depth = 0): string {
  const name = names.get(schema);
  if (name !== undefined) return name;
  const { allOf, anyOf, items, patternProperties, properties, type } = schema;
  if (schema.const !== undefined) return literal(schema.const);
  if (anyOf !== undefined) return union(anyOf.map((part) => typeOf(part, names, depth)));
  if (allOf !== undefined) return allOf.map((part) => typeOf(part, names, depth)).join(' & ');
  if (items !== undefined) return listOf(typeOf(items, names, depth), items);
  if (properties !== undefined) return objectOf(schema, names, depth);
  const [values] = Object.values(patternProperties ?? {});
  if (values !== undefined) return `Readonly<Record<string, ${typeOf(values, names, depth)}>>`;
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'string' || type === 'boolean' || type === 'null' ? type : 'unknown';
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function listOf(item: string, { allOf, anyOf }: Json): string {
  return anyOf === undefined && allOf === undefined ? `readonly ${item}[]` : `readonly (${item})[]`;
}

function objectOf(
  { properties = {}, required = [] }: Json,
  names: ReadonlyMap<Json, string>,
  depth: number,
) {
  const entries = Object.entries(properties);
  if (entries.length === 0) return 'Readonly<Record<string, unknown>>';
  const inner = INDENT.repeat(depth + 1);
  const lines = entries.map(([name, part]) => {
    const mark = required.includes(name) ? '' : '?';
    const key = /^\w+$/.test(name) ? name : `'${name}'`;
    return `${inner}readonly ${key}${mark}: ${typeOf(part, names, depth + 1)};`;
  });
  return `{\n${lines.join('\n')}\n${INDENT.repeat(depth)}}`;
}
