/**
 * One row of the route table as an operation of the OpenAPI document.
 *
 * Thread: any; pure. Not here: the rest of the document (openapi.ts).
 */
import { type TObject, type TSchema, Type } from '../common/schema.ts';
import { DataError } from '../data-v2/errors.ts';
import type { RouteRow } from '../http/route.ts';
import type { Json, Schemas } from './json-schema.ts';
import type { GroupedRow } from './route-table.ts';

export interface DocumentedRoute {
  /** Method and path, as the route table writes them. */
  readonly key: string;
  readonly row: GroupedRow;
  /** Unique among all routes. */
  readonly name: string;
  /** One line; when missing, that of the row before. */
  readonly summary: string;
  readonly writes: boolean;
  /** Base paths under which it is served: '' is the root. */
  readonly bases: readonly string[];
}

interface ParameterShape extends TSchema {
  readonly description?: string;
  /** Parameter of which this is another spelling. */
  readonly spellingOf?: string;
  /** Maximum number of values of a repeated parameter. */
  readonly many?: number;
}

const STRING: ParameterShape = Type.String();
export const ERROR = { $ref: '#/components/schemas/Error' };
const CATALOG_ERROR = { $ref: '#/components/schemas/CatalogError' };

const TEXTS: Readonly<Record<number, string>> = {
  400: 'the request breaks a rule, which the answer names',
  401: 'credentials are missing or wrong; of trades and the data API: the address is not on the list',
  403: 'the key is known and may not do this, or its wallet is banned',
  404: 'the object of the request does not exist',
  409: 'it conflicts with what was done before, or the node has no ledger',
  413: 'the body is too large',
  425: 'a fault plays a restart of the venue',
  429: 'too many requests',
  500: 'a fault of the node',
  503: 'not now: the queue is full, the disk refuses, X-Min-Sequence is not applied yet, or the node is stopping',
};

/** Members that a route does not have are undefined, and so are not in the JSON. */
export function operationOf(route: DocumentedRoute, schemas: Schemas): Json {
  const { bases, key, row, summary } = route;
  const parameters = parametersOf(key, row.query.schema, schemas);
  if (row.tagged === true) parameters.push({ $ref: '#/components/parameters/IfNoneMatch' });
  if (!route.writes) parameters.push({ $ref: '#/components/parameters/MinSequence' });
  const isAtRootAlone = bases.length === 1 && bases[0] === '';
  const hasBody = row.body !== undefined && !isEmpty(row.body);
  return {
    operationId: route.name,
    summary: plain(summary),
    tags: [row.group],
    servers: isAtRootAlone ? undefined : bases.map((base) => ({ url: base === '' ? '/' : base })),
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: hasBody ? requestBody(schemas.of(row.body!), row.example) : undefined,
    responses: responsesOf(route, schemas),
    security: securityOf(row),
    'x-rate-limits': row.limits.length === 0 ? undefined : row.limits,
  };
}

export function plain(does: string): string {
  return does.replaceAll('`', '');
}

export function requestBody(schema: Json, example?: unknown): Json {
  return { required: true, content: json(schema, example) };
}

/** Template of a path, such as `/book/{token_id}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** Name of the operation: `GET /book/:token_id` is getBookByTokenId. */
export function operationName(key: string): string {
  const [method = '', path = ''] = key.split(' ');
  const words = path.replaceAll(':', 'by-').split(/[^A-Za-z0-9]+/);
  const named = words.filter((word) => word !== '');
  const name = (named.length === 0 ? ['root'] : named).map(
    (word) => word[0]!.toUpperCase() + word.slice(1),
  );
  return method.toLowerCase() + name.join('');
}

/** Parameters in the path and in the query; other spellings of one are named in its description. */
export function parametersOf(key: string, query: TObject, schemas: Schemas): Json[] {
  const properties = (query.properties ?? {}) as Record<string, ParameterShape>;
  const required = (query.required as readonly string[] | undefined) ?? [];
  const inPath = [...key.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const shapes = Object.entries(properties);
  const inQuery = shapes.filter(
    ([name, { spellingOf }]) => spellingOf === undefined && !inPath.includes(name),
  );
  const others = (of: string) =>
    shapes.filter(([, { spellingOf }]) => spellingOf === of).map(([name]) => `\`${name}\``);
  return [
    ...inPath.map((name) => {
      const { [name]: shape = STRING } = properties;
      const description = shape.description || undefined;
      return { name, in: 'path', required: true, description, schema: schemaOf(shape, schemas) };
    }),
    ...inQuery.map(([name, shape]) => ({
      name,
      in: 'query',
      required: required.includes(name) || undefined,
      description: describedOf(shape, others(name)),
      schema: schemaOf(shape, schemas),
    })),
  ];
}

function schemaOf(shape: ParameterShape, schemas: Schemas): Json {
  const { description: _, ...schema } = schemas.of(shape);
  return shape.many === undefined
    ? schema
    : { type: 'array', items: schema, minItems: 1, maxItems: shape.many };
}

function describedOf({ description }: ParameterShape, others: readonly string[]) {
  const also = others.length === 0 ? undefined : `also ${others.join(', ')}`;
  return [description, also].filter(Boolean).join('; ') || undefined;
}

function responsesOf({ key, row, writes }: DocumentedRoute, schemas: Schemas): Json {
  const headers = {
    'X-Sequence': writes ? { $ref: '#/components/headers/Sequence' } : undefined,
    ETag: row.tagged === true ? { $ref: '#/components/headers/ETag' } : undefined,
    ...(row.limits.length === 0 ? {} : LIMIT_HEADERS),
  };
  const hasHeaders = writes || row.tagged === true || row.limits.length > 0;
  const schema = schemas.of(row.answer);
  const content = Object.fromEntries(
    (row.media ?? ['application/json']).map((type) => [type, { schema }]),
  );
  const errors = statusesOf(key, row, writes).map((status) => [
    status,
    {
      description: TEXTS[status],
      headers: headersOf(status),
      content: json(bodyOf(row, status, schemas)),
    },
  ]);
  return {
    200: { description: 'the answer', headers: hasHeaders ? headers : undefined, content },
    202: row.protocolError && { description: 'a message that needs no answer' },
    304: row.tagged === true ? { description: 'it is as the caller has it' } : undefined,
    ...Object.fromEntries(errors),
  };
}

function headersOf(status: number): Json | undefined {
  if (status === 425) return RETRY_HEADER;
  return status === 429 ? { ...LIMIT_HEADERS, ...RETRY_HEADER } : undefined;
}

/** Statuses with an error of the protocol that a route speaks. */
const PROTOCOL: ReadonlySet<number> = new Set([400, 404, 500]);

function bodyOf(row: RouteRow, status: number, schemas: Schemas): Json {
  const error = errorOf(row, status, schemas);
  const other = status === 503 ? row.unavailable : PROTOCOL.has(status) && row.protocolError;
  return other ? { anyOf: [schemas.of(other), error] } : error;
}

/** Error body; a 400 and a 401 always include advice. */
function errorOf({ api }: RouteRow, status: number, schemas: Schemas): Json {
  if (api === 'data-v2') return schemas.of(DataError);
  const error = api === 'catalog' && isOfCatalog(status) ? CATALOG_ERROR : ERROR;
  const isExplained = status === 400 || status === 401;
  return isExplained ? { allOf: [error, { required: ['detail', 'code'] }] } : error;
}

const LIMIT_HEADERS = Object.fromEntries(
  ['Limit', 'Remaining', 'Reset'].map((name) => [
    `X-RateLimit-${name}`,
    { $ref: `#/components/headers/RateLimit${name}` },
  ]),
);
const RETRY_HEADER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

/** True where the catalog's own shape of rejects applies; earlier checks use the server's shape. */
function isOfCatalog(status: number): boolean {
  return status === 400 || status === 404 || status === 429 || status === 500;
}

/** Error statuses of a row, without those of requests to no route. */
function statusesOf(key: string, row: RouteRow, writes: boolean): number[] {
  const hasQuery = Object.keys(row.query.schema.properties ?? {}).length > 0;
  const isGuarded = row.access !== 'none';
  const found: readonly (readonly [number, boolean])[] = [
    // A read can at least have a wrong X-Min-Sequence.
    [400, hasQuery || isGuarded || row.body !== undefined || !writes],
    [401, isGuarded || row.api === 'data' || row.api === 'data-v2' || row.listed === true],
    [403, isGuarded || row.writes === true],
    [404, hasQuery || key.includes(':') || row.body !== undefined || row.access === 'level1'],
    [409, row.conflicts === true],
    [413, row.bodyMax !== 'none'],
    [425, row.restarts === true],
    [429, row.limits.length > 0],
    [500, true],
    [503, true],
  ];
  return found.filter(([, isThere]) => isThere).map(([status]) => status);
}

function securityOf({ access }: RouteRow): Json[] {
  if (access === 'none') return [{}];
  const level2 = securityOfAll(['Address', 'ApiKey', 'Passphrase', 'Timestamp', 'Signature']);
  if (access === 'level2') return [level2];
  const level2Read = [level2, securityOfAll(['Address', 'ReadOnlyKey'])];
  if (access === 'level2-read') return level2Read;
  if (access === 'level2-or-none') return [{}, ...level2Read];
  return [securityOfAll(['Address', 'WalletSignature', 'Timestamp', 'Nonce'])];
}

function securityOfAll(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, []]));
}

export function json(schema: Json, example?: unknown): Json {
  return { 'application/json': { schema, example } };
}

function isEmpty(members: object): boolean {
  return Object.keys(members).length === 0;
}
