/**
 * Runs the operations: the input is checked by the compiled schema of its row. A change is in the audit log
 * before it begins, and again with its result.
 *
 * Thread: I/O, or that of a command on a stopped directory. Not here: access (listener.ts).
 */
import type { AuditLog } from '../../storage/operations/audit-log.ts';
import { bodyFault } from '../common/body-fault.ts';
import { errorBody, errorBodyOf } from '../common/error-bodies.ts';
import { parseJson } from '../common/json.ts';
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { compileShape } from '../common/schema.ts';
import { Unavailable } from '../common/unavailable.ts';
import type { Role } from './access.ts';
import { auditedFile } from './catalog-operations.ts';
import type { ResolveNames } from './named-inputs.ts';
import { type Caller, OperationRefused, type OperationRow, refused } from './operation-row.ts';
import {
  isChange,
  type OperationHandlers,
  type OperationKey,
  operationRow,
  operationRows,
} from './operation-table.ts';

export interface OperationCall {
  readonly key: OperationKey;
  /** Without `?`. */
  readonly query: string;
  readonly body: Uint8Array;
  readonly actor: string;
  readonly role: Role;
}

export interface OperationAnswer {
  readonly status: number;
  readonly body: string;
  /** Newest durable batch when a change was completed; absent for reads. */
  readonly sequence?: number;
}

/** Forwards a change to another node; resolves with undefined where this node makes it. */
export type MakeElsewhere = (call: OperationCall) => Promise<OperationAnswer | undefined>;

interface OperationsOptions {
  /** Incomplete on a stopped directory. */
  readonly handlers: Partial<OperationHandlers>;
  readonly audit: Pick<AuditLog, 'begin' | 'end'>;
  readonly elsewhere?: MakeElsewhere | undefined;
  readonly sequence?: () => number;
  readonly resolve: ResolveNames;
  readonly log: (line: string) => void;
}

/** Returns the input, or the body of a 400. */
type ReadInput = (call: OperationCall) => object | string;

type Handler = (checked: object, caller: Caller) => unknown;

/** Room for a market with many outcomes. */
const BODY_BOUNDS = boundsOf(1_000);
const NO_FILE = new Uint8Array();
const NO_NODE = refused('NEEDS_RUNNING_NODE');
const UNAVAILABLE = 'audit log unavailable';

export class Operations {
  private readonly options: OperationsOptions;
  private readonly readers: ReadonlyMap<OperationKey, ReadInput>;

  constructor(options: OperationsOptions) {
    this.options = options;
    this.readers = new Map(operationRows().map(([key, row]) => [key, readerOf(key, row)]));
  }

  async run(call: OperationCall): Promise<OperationAnswer> {
    const sent = this.readers.get(call.key)!(call);
    if (typeof sent === 'string') return { status: 400, body: sent };
    const input = this.options.resolve(call.key, sent);
    if (input instanceof OperationRefused) return refusal(input);
    if (!isChange(call.key)) return this.result(call, input, false);
    const { actor, key, role } = call;
    let id: number;
    try {
      id = await this.options.audit.begin({
        actor,
        role,
        route: key,
        body: auditedOf(call, input),
      });
    } catch (error) {
      this.options.log(`${UNAVAILABLE}: ${(error as Error).message}`);
      if (operationRow(key).auditedNext === true) return this.change(call, input, false);
      return { status: 503, body: errorBody('AUDIT_LOG_UNAVAILABLE', 'nothing has changed') };
    }
    const answer = await this.change(call, input, true);
    // The change is made, and its entry is on disk: only the result is missing.
    await this.options.audit.end(id, answer.status, errorOf(answer)).catch((error: unknown) => {
      this.options.log(`${UNAVAILABLE}: ${(error as Error).message}`);
    });
    return answer;
  }

  private async change(
    call: OperationCall,
    input: object,
    isAudited: boolean,
  ): Promise<OperationAnswer> {
    const { elsewhere, sequence } = this.options;
    const isHere = operationRow(call.key).ofNode === true;
    const made = isHere ? undefined : await elsewhere?.(call);
    if (made !== undefined) return made;
    const answer = await this.result(call, input, isAudited);
    return sequence === undefined ? answer : { ...answer, sequence: sequence() };
  }

  private async result(
    { actor, body, key, role }: OperationCall,
    input: object,
    isAudited: boolean,
  ): Promise<OperationAnswer> {
    try {
      // The reader has checked the input by the schema that the handler's type comes from.
      const handler = this.options.handlers[key] as Handler | undefined;
      const file = operationRow(key).file === true ? body : NO_FILE;
      const result =
        handler === undefined ? NO_NODE : await handler(input, { actor, role, isAudited, file });
      if (!(result instanceof OperationRefused)) {
        return { status: 200, body: JSON.stringify(result) };
      }
      return refusal(result);
    } catch (error) {
      if (error instanceof Unavailable) return { status: 503, body: error.body };
      this.options.log(`${key} failed: ${error instanceof Error ? error.stack : String(error)}`);
      return { status: 500, body: errorBody('INTERNAL_ERROR') };
    }
  }
}

/** A change with a mistyped option must not be made without it. */
function unknownOption(query: string, { properties }: OperationRow['input']): string | undefined {
  const name = [...new URLSearchParams(query).keys()].find(
    (each) => !Object.hasOwn(properties, each),
  );
  return name === undefined ? undefined : errorBodyOf(`unknown_field: ${name}`);
}

function auditedOf({ body, key }: OperationCall, input: object): object {
  const { audited, file } = operationRow(key);
  if (file === true) return { ...input, ...auditedFile(body) };
  return audited === undefined ? input : (audited as (checked: object) => object)(input);
}

function refusal({ detail, error, facts, status }: OperationRefused): OperationAnswer {
  return { status, body: errorBodyOf(error, detail, facts) };
}

function errorOf({ body, status }: OperationAnswer): string | undefined {
  return status === 200 ? undefined : (JSON.parse(body) as { readonly error: string }).error;
}

function readerOf(key: OperationKey, { file, input }: OperationRow): ReadInput {
  if (key.startsWith('GET ') || file === true) {
    const { parse } = compileQuery(input);
    return ({ query }) => (file === true ? unknownOption(query, input) : undefined) ?? parse(query);
  }
  const shape = compileShape(input);
  return ({ body }) => {
    const sent = body.length === 0 ? {} : parseJson(body, BODY_BOUNDS);
    return shape.matches(sent) ? sent : bodyFault(input, shape.fault(sent));
  };
}
