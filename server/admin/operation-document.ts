/**
 * OpenAPI document (3.1) of the admin listener, made only from the table of operations.
 *
 * Thread: any; pure.
 */
import { packageVersion } from '../common/package-version.ts';
import { type Json, Schemas } from '../routes/json-schema.ts';
import { documentOf } from '../routes/openapi.ts';
import {
  ERROR,
  json,
  operationName,
  parametersOf,
  plain,
  requestBody,
} from '../routes/operation.ts';
import type { OperationRow } from './operation-row.ts';
import { operationRows } from './operation-table.ts';

const DESCRIPTION = `What an operator reads and changes of a node. Each request needs the bearer token; that of a
resolver allows what its description says. A change is a POST without the \`Origin\` of another site; it gets an entry in the audit log, whose actor is
\`X-Operator\` and the address. Every error has the member \`error\`, some have \`detail\`.`;

const ERRORS: Readonly<Record<number, string>> = {
  400: 'the input breaks a rule, which the answer names',
  401: 'the token is missing or wrong',
  403: 'the token is that of a resolver, or a page of another site asks',
  404: 'the object of the request does not exist',
  409: 'it cannot be done as things are',
  429: 'five wrong tokens came from this address in a minute',
  500: 'a fault of the node',
  503: 'not now: the node starts or ends, or cannot write',
};

export function operationsDocument(): Json {
  const schemas = new Schemas(new Map());
  return documentOf({
    title: 'Prediction-market node: operations',
    version: packageVersion(),
    description: DESCRIPTION,
    server: 'the admin listener of the node that served this',
    operations: operationRows().map(([key, row]) => [key, operationOf(key, row, schemas)] as const),
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
  });
}

function operationOf(
  key: string,
  { answer, does, file, input, resolver }: OperationRow,
  schemas: Schemas,
): Json {
  const hasQuery = key.startsWith('GET ') || file === true;
  const body =
    file === true ? { type: 'object', description: 'a catalog file' } : schemas.of(input);
  const errors = Object.entries(ERRORS).map(([status, description]) => [
    status,
    { description, content: json(ERROR) },
  ]);
  return {
    operationId: operationName(key),
    summary: plain(does),
    ...(resolver && { description: 'RESOLVER_TOKEN allows it too.' }),
    parameters: hasQuery ? parametersOf(key, input, schemas) : undefined,
    requestBody: key.startsWith('GET ') ? undefined : requestBody(body),
    responses: {
      200: { description: 'the answer', content: json(schemas.of(answer)) },
      ...Object.fromEntries(errors),
    },
    security: [{ Token: [] }],
  };
}
