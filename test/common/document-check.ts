/**
 * Checks answers against the OpenAPI document: route, status and shape of the body. The document
 * depends on the configuration of a node, so each configuration has its own. Loaded on first use; a
 * shape is compiled at its first answer.
 */
import assert from 'node:assert/strict';
import type { AnySchema, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Config, readConfig } from '../../server/config/config.ts';
import { PROFILE_ROWS } from '../../server/config/profile.ts';

interface Operation {
  readonly servers?: readonly { readonly url: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, unknown>> }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Checked {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly json: unknown;
}

const SHOWN_MAX = 1_000;
/** The document leaves pages out. */
const PAGE = /^\/app(?:\/|$)/;
const BASES = ['/clob', '/gamma', '/data'];
/** Status codes of answers before a route is found. */
const UNROUTED = [400, 404, 405, 413, 429, 503];

class DocumentCheck {
  private readonly document: Document;
  /** Schemas are not validated: test/documents checks the document itself. */
  private readonly ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    // Most shapes judge few answers: compiling them is what costs.
    code: { optimize: false },
  });
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly templates = new Map<number, string[][]>();

  constructor(document: object) {
    this.document = document as Document;
    this.ajv.addSchema(document as AnySchema, 'document', undefined, false);
    for (const path of Object.keys(this.document.paths)) {
      const parts = path.split('/');
      this.templates.set(parts.length, [...(this.templates.get(parts.length) ?? []), parts]);
    }
  }

  /** Throws an AssertionError that names the first thing missing in the document. */
  check({ headers, json, method, path, status }: Checked): void {
    const [plain = ''] = path.split('?');
    if (PAGE.test(plain)) return;
    const what = `${method} ${path} answers ${status}`;
    const found = this.find(method.toLowerCase(), plain);
    if (found === undefined) {
      assert(UNROUTED.includes(status), `${what}, and the document has no such route`);
      return;
    }
    const { pointer, responses } = found;
    const response = responses[status];
    assert(response !== undefined, `${what}, of which the document says nothing`);
    if (response.content === undefined) return;
    const media = String(headers['content-type'] ?? '').split(';')[0]!;
    assert(media in response.content, `${what} as ${media}, which the document has not`);
    if (media !== 'application/json') return;
    const validate = this.validatorOf(`${pointer}/responses/${status}/content/application~1json`);
    if (validate(json)) return;
    const [fault] = validate.errors ?? [];
    const shown = JSON.stringify(json).slice(0, SHOWN_MAX);
    const where = `${fault?.instancePath ?? ''} ${fault?.message ?? ''}`;
    assert.fail(`${what}, against the document: ${where} in ${shown}`);
  }

  private validatorOf(pointer: string): ValidateFunction {
    const known = this.validators.get(pointer);
    if (known !== undefined) return known;
    const made = this.ajv.compile({ $ref: `document#${pointer}/schema` });
    this.validators.set(pointer, made);
    return made;
  }

  private find(method: string, path: string): (Operation & { pointer: string }) | undefined {
    const base = BASES.find((each) => path === each || path.startsWith(`${each}/`)) ?? '';
    const under = path.slice(base.length);
    const whole = this.operationAt(method, path);
    if (whole !== undefined || base === '') return whole;
    const found = this.operationAt(method, under === '' ? '/' : under);
    return found?.servers?.some(({ url }) => url === base) === true ? found : undefined;
  }

  private operationAt(method: string, path: string) {
    const parts = path.split('/');
    const fitting = (this.templates.get(parts.length) ?? []).filter(
      (template) =>
        this.document.paths[template.join('/')]![method] !== undefined &&
        // No route has an empty part where it has a parameter.
        template.every((part, i) => part === parts[i] || (part.startsWith('{') && parts[i] !== '')),
    );
    // A part that is spelled out goes before one that may be anything, from the left.
    const [best] = fitting
      .map((template) => template.join('/'))
      .sort((a, b) => (a.replaceAll('{', '~') < b.replaceAll('{', '~') ? -1 : 1));
    if (best === undefined) return undefined;
    const pointer = `/paths/${encodeURIComponent(best.replaceAll('/', '~1'))}/${method}`;
    return { ...this.document.paths[best]![method]!, pointer };
  }
}

const checks = new Map<string, Promise<DocumentCheck>>();

export function documentCheck(settings: Readonly<Record<string, string>>): Promise<DocumentCheck> {
  const read = readConfig(settings, [], 1);
  assert(read.ok, 'the node has started with them');
  const { config } = read;
  const key = JSON.stringify([
    config.faults,
    config.mcp,
    ...PROFILE_ROWS.map(([name]) => config[name]),
  ]);
  const known = checks.get(key) ?? load(config);
  checks.set(key, known);
  return known;
}

async function load(config: Config): Promise<DocumentCheck> {
  const { documentsOf } = await import('../../server/routes/documented.ts');
  return new DocumentCheck(await documentsOf(config).openApi());
}
