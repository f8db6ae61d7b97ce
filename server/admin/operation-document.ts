/**
 * OpenAPI document (3.1) of the admin listener, made only from the table of operations.
 *
 * Thread: any; pure.
 */
import { packageVersion } from '../common/package-version.ts';
import type { TSchema } from '../common/schema.ts';
import { type Json, Schemas } from '../routes/json-schema.ts';
import { operationName, parametersOf } from '../routes/operation.ts';
import type { OperationRow } from './operation-row.ts';
import { OPERATIONS } from './operation-table.ts';

const DESCRIPTION = `What an operator reads and changes of a node. Each request needs the bearer token. A change
is a POST without \`Origin\`, so no web page can make it; it gets an entry in the audit log, whose actor is
\`X-Operator\` and the address. Every error has the member \`error\`, some have \`detail\`.`;

const ERRORS: Readonly<Record<number, string>> = {
  400: 'the input breaks a rule, which the answer names',
  401: 'the token is missing or wrong',
  404: 'the object of the request does not exist',
  409: 'it cannot be done as things are',
  500: 'a fault of the node',
  503: 'not now: the node starts or ends, or cannot write',
};

export function operationsDocument(): Json {
  const schemas = new Schemas(new Map());
  const paths: Record<string, Record<string, Json>> = {};
  for (const [key, row] of Object.entries<OperationRow>(OPERATIONS)) {
    const [method = '', path = ''] = key.split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(key, row, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Prediction-market node: operations',
      version: packageVersion(),
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'the admin listener of the node that served this' }],
    paths,
    components: {
      schemas: {
        Error: {
          type: 'object',
          properties: { error: { type: 'string' }, detail: { type: 'string' } },
          required: ['error'],
        },
      },
      securitySchemes: { Token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf(key: string, row: OperationRow, schemas: Schemas): Json {
  const content = (schema: TSchema | Json) => ({ 'application/json': { schema } });
  const isRead = key.startsWith('GET ');
  return {
    operationId: operationName(key),
    summary: row.does.replaceAll('`', ''),
    ...(isRead
      ? { parameters: parametersOf(key, row.input, false, schemas) }
      : { requestBody: { required: true, content: content(schemas.of(row.input)) } }),
    responses: {
      200: { description: 'the answer', content: content(schemas.of(row.answer)) },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          { description, content: content({ $ref: '#/components/schemas/Error' }) },
        ]),
      ),
    },
    security: [{ Token: [] }],
  };
}
