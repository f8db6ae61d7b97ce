/**
 * OpenAPI documents (3.1) of both listeners, made only from the rows of their tables.
 *
 * Thread: any. On the I/O thread of a running node it yields after every row.
 */

import { setImmediate } from 'node:timers/promises';
import { REFUSAL_FACTS, REFUSALS } from '../common/refusals.ts';
import { GROUPS } from './groups.ts';
import { type Json, Schemas } from './json-schema.ts';
import { type DocumentedRoute, operationName, operationOf, templateOf } from './operation.ts';

export interface OpenApiParts {
  readonly routes: readonly Omit<DocumentedRoute, 'name'>[];
  readonly names: ReadonlyMap<unknown, string>;
  readonly credentialPrefix: string;
  readonly version: string;
}

const DESCRIPTION = `An exchange for prediction markets. Bodies are JSON; every error has the member \`error\`,
some have \`detail\`. Routes of the trading API are also served under \`/clob\`, those of the catalog under
\`/gamma\`, those of the data API under \`/data\`. HEAD is answered wherever GET is. The streams are described by
\`GET /asyncapi.json\`.`;

export async function openApiDocument(parts: OpenApiParts): Promise<Json> {
  const { credentialPrefix, names, routes, version } = parts;
  const schemas = new Schemas(names);
  const operations: (readonly [key: string, operation: Json])[] = [];
  const taken = new Set<string>();
  for (const route of sorted(routes)) {
    let name = operationName(route.key);
    while (taken.has(name)) name += '2';
    taken.add(name);
    operations.push([route.key, operationOf({ ...route, name }, schemas)]);
    await setImmediate();
  }
  return documentOf({
    title: 'prediction-market-node',
    version,
    description: DESCRIPTION,
    server: 'the node that served this',
    tags: Object.entries(GROUPS).map(([name, description]) => ({ name, description })),
    operations,
    components: {
      schemas: { ...ERRORS, ...schemas.used },
      parameters: { IfNoneMatch: IF_NONE_MATCH, MinSequence: MIN_SEQUENCE },
      headers: HEADERS,
      securitySchemes: securitySchemes(credentialPrefix),
    },
  });
}

interface DocumentParts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly server: string;
  readonly tags?: readonly Json[];
  readonly operations: readonly (readonly [key: string, operation: Json])[];
  readonly components: Json;
}

export function documentOf(parts: DocumentParts): Json {
  const { components, description, operations, server, tags, title, version } = parts;
  const paths: Record<string, Record<string, Json>> = {};
  for (const [key, operation] of operations) {
    const [method = '', path = ''] = key.split(' ');
    const template = templateOf(path);
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation };
  }
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title, version, description, license },
    servers: [{ url: '/', description: server }],
    tags,
    paths,
    components,
  };
}

function sorted(routes: OpenApiParts['routes']): OpenApiParts['routes'] {
  const groups = Object.keys(GROUPS);
  const rank = ({ row }: OpenApiParts['routes'][number]) => groups.indexOf(row.group);
  return routes.toSorted((a, b) => rank(a) - rank(b));
}

const TEXT = { type: 'string' };
const CODE = { enum: Object.keys(REFUSALS), description: 'stable' };
const DETAIL = { type: 'string', description: 'for the person who has to mend it' };
/** Members of an error body for programs, beside the text; some codes have them. */
const FACTS = Object.fromEntries(
  Object.entries(REFUSAL_FACTS).map(([name, description]) => [
    name,
    { type: 'string', description },
  ]),
);
const ERRORS = {
  Error: {
    type: 'object',
    properties: { error: TEXT, detail: DETAIL, ...FACTS, code: CODE },
    required: ['error'],
  },
  CatalogError: {
    type: 'object',
    properties: { type: TEXT, error: TEXT, detail: DETAIL, code: CODE },
    required: ['type', 'error'],
  },
};

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'the ETag of an answer that the caller has',
  schema: { type: 'string' },
};

const MIN_SEQUENCE = {
  name: 'X-Min-Sequence',
  in: 'header',
  description:
    'the X-Sequence of an answer to a write that this answer has to show; it waits up to a second',
  schema: { type: 'integer', minimum: 0 },
};

const whole = (description: string) => ({ description, schema: { type: 'integer' } });
const HEADERS = {
  ETag: { description: 'changes with the answer', schema: { type: 'string' } },
  RateLimitLimit: whole('requests of a window of the row that binds first'),
  RateLimitRemaining: whole('those that are left of them'),
  RateLimitReset: whole('when the window ends, unix seconds'),
  RetryAfter: whole('seconds'),
  Sequence: whole('a node that has applied this batch of the log shows all that the answer says'),
};

function securitySchemes(prefix: string): Json {
  const header = (name: string, description: string) => ({
    type: 'apiKey',
    in: 'header',
    name: `${prefix}_${name}`,
    description,
  });
  return {
    Address: header('ADDRESS', 'the wallet'),
    ApiKey: header('API_KEY', 'level 2'),
    Passphrase: header('PASSPHRASE', 'level 2'),
    Timestamp: header('TIMESTAMP', 'unix seconds'),
    Signature: header(
      'SIGNATURE',
      'level 2: HMAC-SHA256, keyed with the decoded secret, of timestamp, method, path without query, body',
    ),
    WalletSignature: header('SIGNATURE', 'level 1: EIP-712 of ClobAuth by the wallet'),
    Nonce: header('NONCE', 'level 1'),
    ReadOnlyKey: header('READONLY_API_KEY', 'reads own orders and trades, needs no signature'),
  };
}
