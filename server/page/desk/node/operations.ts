/** Operations and their inputs, from the OpenAPI document of the admin listener. */

export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

export interface Operation {
  /** Method and path. */
  readonly key: string;
  readonly does: string;
  readonly fields: readonly Field[];
}

interface Documented {
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
}

let read: Promise<ReadonlyMap<string, Operation>> | undefined;

/** A failure is not kept: the next call reads again. */
export function readOperations(): Promise<ReadonlyMap<string, Operation>> {
  read ??= readDocument().catch((error: unknown) => {
    read = undefined;
    throw error;
  });
  return read;
}

async function readDocument(): Promise<ReadonlyMap<string, Operation>> {
  const answer = await fetch('openapi.json');
  if (!answer.ok) throw new Error(`openapi.json: ${answer.status}`);
  const { paths } = (await answer.json()) as Document;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => {
      const key = `${method.toUpperCase()} ${path}`;
      return [key, { key, does: documented.summary, fields: fieldsOf(documented) }] as const;
    }),
  );
  return new Map(all);
}

function fieldsOf({ parameters, requestBody }: Documented): Field[] {
  const inQuery = (parameters ?? []).map(({ description = '', name, required, schema }) => ({
    name,
    schema: { description, ...schema },
    isRequired: required === true,
  }));
  const { properties = {}, required = [] } = requestBody?.content['application/json'].schema ?? {};
  const inBody = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
  }));
  return [...inQuery, ...inBody];
}
