/**
 * Envelope of the routes below /v2: `{data, pagination}` of a list, `{data}` of one answer, parameters, cursors and
 * error bodies. Rules: docs/protocol.md#data-api-v2
 *
 * Thread: I/O. Non-goals: rows.
 */
import { ProjectionUnready } from '../../storage/projection/reader.ts';
import type { QuerySpec } from '../common/query.ts';
import { type TProperties, type TSchema, Type } from '../common/schema.ts';
import type { Allowlist } from '../http/address.ts';
import { ignoredHeaders } from '../http/ignored-parameters.ts';
import type { RateClass } from '../http/limits/rate-limits.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type RouteGroup, rawRoute } from '../http/route.ts';
import { dataErrorBody, replyDataError, traceHeader } from './errors.ts';
import { CursorCodec, type Position } from './page-cursor.ts';
import {
  between,
  type Parameter,
  type ParametersOf,
  type ParameterTable,
  parametersQuery,
} from './parameters.ts';

/** Service that every list of routes below /v2 has. */
export interface DataParts {
  readonly allowlist: Allowlist;
}

const LIMIT_USUAL = 100;
const LIMIT_MAX = 1_000;

/** Rows of a page, each as JSON. */
export interface Listed {
  readonly items: readonly string[];
  /** Null behind the last row. */
  readonly next: Position | null;
}

/** JSON of an answer without pages, for a query that names one row. */
export interface Single {
  readonly data: string;
}

export interface PageRequest {
  readonly limit: number;
  /** Last row of the page before; null on the first page. */
  readonly after: Position | null;
}

interface RouteTexts {
  readonly does: string;
  readonly group?: RouteGroup;
  /** Rate limits; absent: those of the data API. */
  readonly limits?: readonly RateClass[];
}

interface ListDefinition<Table extends ParameterTable> extends RouteTexts {
  readonly parameters: Table;
  /** Shape of a row. */
  readonly item: TSchema;
  /** Shape of `data` in answers without pages; absent where all have pages. */
  readonly single?: TSchema;
  /** Shape of a position in the list. */
  readonly position: TSchema;
  /** Choices among the parameters that a cursor keeps. */
  readonly order?: readonly (keyof Table & string)[];
  /** Rule that no single parameter breaks. */
  readonly check?: (query: ParametersOf<Table>, page: PageRequest) => Broken | undefined;
  readonly limit?: { readonly usual: number; readonly max: number };
}

interface DataDefinition<Table extends ParameterTable> extends RouteTexts {
  readonly parameters: Table;
  /** Shape of `data`. */
  readonly data: TSchema;
  readonly check?: (query: ParametersOf<Table>) => Broken | undefined;
}

/** Broken rule of a request. */
export interface Broken {
  readonly parameter: string;
  /** Whole text of the error. */
  readonly rule: string;
}

type Later<T> = T | Promise<T>;

const Pagination = Type.Object(
  {
    limit: Type.Integer(),
    offset: Type.Integer({ description: 'always 0: pages have cursors' }),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);

const cursorParameter: Parameter<string> = {
  schema: Type.String({ description: 'next_cursor of the page before' }),
  rule: 'next_cursor of the page before, with the same filters',
  unset: '',
  aliases: ['next_cursor', 'nextCursor'],
  read: (value) => value,
};

/** A route whose answer is a list in pages. @param run returns the rows of a page */
export function listRoute<
  const Key extends `GET /v2/${string}`,
  Table extends ParameterTable,
  Service extends DataParts,
>(
  key: Key,
  definition: ListDefinition<Table>,
  run: (service: Service, query: ParametersOf<Table>, page: PageRequest) => Later<Listed | Single>,
) {
  const { item, limit: bounds = { usual: LIMIT_USUAL, max: LIMIT_MAX }, single } = definition;
  const query = pagedQuery(key, definition, bounds);
  const pages = enclosed({ data: Type.Array(item), pagination: Pagination });
  const answer = single === undefined ? pages : Type.Union([pages, enclosed({ data: single })]);
  return enveloped(key, definition, query, answer, async (service: Service, asked) => {
    const { codec, order, page, values } = asked;
    const found = await run(service, values, page);
    if ('data' in found) return `{"data":${found.data}}`;
    const { items, next } = found;
    const { limit } = page;
    const cursor = next === null ? null : codec.encode({ limit, order, position: next });
    const pagination = { limit, offset: 0, has_more: cursor !== null, next_cursor: cursor };
    return `{"data":[${items.join(',')}],"pagination":${JSON.stringify(pagination)}}`;
  });
}

/** A route whose answer is one value. @param run returns the JSON of `data` */
export function dataRoute<
  const Key extends `GET /v2/${string}`,
  Table extends ParameterTable,
  Service extends DataParts,
>(
  key: Key,
  definition: DataDefinition<Table>,
  run: (service: Service, query: ParametersOf<Table>) => Later<string>,
) {
  const { check, data, parameters } = definition;
  const query = checked(parametersQuery(parameters), check);
  const answer = enclosed({ data });
  return enveloped(
    key,
    definition,
    query,
    answer,
    async (service: Service, asked) => `{"data":${await run(service, asked)}}`,
  );
}

const enclosed = (members: TProperties) => Type.Object(members, { additionalProperties: false });

interface PagedQuery<Query> {
  readonly values: Query;
  readonly page: PageRequest;
  readonly order: readonly string[];
  readonly codec: CursorCodec;
}

type Bounds = { readonly usual: number; readonly max: number };

function pagedQuery<Table extends ParameterTable>(
  key: string,
  { check, order = [], parameters, position }: ListDefinition<Table>,
  bounds: Bounds,
): QuerySpec<PagedQuery<ParametersOf<Table>>> {
  const codec = new CursorCodec(key, position, order.length);
  const limit = between(1, bounds.max, bounds.usual);
  // Absent values of the order are those of the cursor.
  const unset = order.map((name) => [name, { ...parameters[name]!, unset: undefined }]);
  const table = { ...parameters, ...Object.fromEntries(unset), limit, cursor: cursorParameter };
  const { parse, schema } = parametersQuery(table as ParameterTable);
  return {
    schema,
    parse(text, fromPath, ignored) {
      const found = parse(text, fromPath, ignored);
      if (typeof found === 'string') return found;
      const { cursor: sent, limit: asked, ...values } = found as Record<string, unknown>;
      const cursor = sent === '' ? undefined : codec.decode(sent as string);
      const isOfPage = cursor !== undefined && cursor.limit >= 1 && cursor.limit <= bounds.max;
      if (sent !== '' && !isOfPage) {
        return refusal({ parameter: 'cursor', rule: `cursor must be ${cursorParameter.rule}` });
      }
      for (const [i, name] of order.entries()) {
        const kept = cursor?.order[i];
        if (kept !== undefined && kept !== (values[name] ?? kept)) {
          return refusal({ parameter: name, rule: `${name} contradicts the cursor` });
        }
        const parameter = parameters[name]!;
        const value = kept === undefined ? undefined : parameter.read(kept, parameter.unset);
        values[name] ??= value ?? parameter.unset;
      }
      const query = values as ParametersOf<Table>;
      const page = { limit: cursor?.limit ?? (asked as number), after: cursor?.position ?? null };
      const broken = check?.(query, page);
      if (broken !== undefined) return refusal(broken);
      return {
        values: query,
        page,
        order: order.map((name) => values[name] as string),
        codec,
      };
    },
  };
}

function checked<Query>(
  { parse, schema }: QuerySpec<Query>,
  check: ((query: Query) => Broken | undefined) | undefined,
): QuerySpec<Query> {
  if (check === undefined) return { parse, schema };
  return {
    schema,
    parse(...sent) {
      const query = parse(...sent);
      if (typeof query === 'string') return query;
      const broken = check(query);
      return broken === undefined ? query : refusal(broken);
    },
  };
}

function refusal({ parameter, rule }: Broken): string {
  return dataErrorBody('invalid_request', rule, parameter);
}

/** Checks caller and query, answers with the text of `run`, and 503 while projections are made again. */
function enveloped<const Key extends `GET /v2/${string}`, Query, Service extends DataParts>(
  key: Key,
  { does, group, limits }: RouteTexts,
  query: QuerySpec<Query>,
  answer: TSchema,
  run: (service: Service, query: Query) => Promise<string>,
) {
  const row = {
    api: 'data-v2' as const,
    query,
    answer,
    does,
    ...(group === undefined ? {} : { group }),
    ...(limits === undefined ? {} : { limits }),
  };
  return rawRoute(key, row, (service: Service) => {
    const { allowlist } = service;
    const isListed = allowlist.entries.length > 0;
    return {
      headers: [],
      query,
      async run(context: RequestContext) {
        if (isListed && !allowlist.allows(context.address)) {
          return replyDataError(context, 'unauthorized', 'ip_not_allowlisted');
        }
        const ignored: string[] = [];
        const asked = query.parse(context.query, [], ignored);
        if (typeof asked === 'string') {
          return context.reply(400, asked, traceHeader(asked));
        }
        try {
          context.reply(200, await run(service, asked), ignoredHeaders(ignored));
        } catch (error) {
          if (!(error instanceof ProjectionUnready)) throw error;
          replyDataError(
            context,
            'dependency_unavailable',
            'positions are being derived: ask again',
          );
        }
      },
    };
  });
}
