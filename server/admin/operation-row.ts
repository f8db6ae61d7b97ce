/**
 * Row of the table of operations, and results of handlers.
 *
 * Thread: any. Not here: execution of a request (operations.ts).
 */
import type { RefusalFacts } from '../common/error-bodies.ts';
import { type RefusalCode, refusalOf } from '../common/refusals.ts';
import type { Static, TObject, TSchema } from '../common/schema.ts';
import type { Defined } from '../http/route.ts';
import type { Role } from './access.ts';

export interface OperationRow {
  /** One line for the README and the API document. */
  readonly does: string;
  /** Query of a GET, or JSON body of a POST; each member states its rule as `description`. */
  readonly input: TObject;
  readonly answer: TSchema;
  /** Bound of a POST body in bytes, where it exceeds the common one. */
  readonly bodyBytes?: number;
  /** Returns the audited summary of a long input; absent: the whole input is audited. */
  readonly audited?: (input: never) => object;
  /** Marks a POST whose body is a file; its input is the query. */
  readonly file?: true;
  /** Marks an operation that RESOLVER_TOKEN allows too. */
  readonly resolver?: true;
  /** Marks a POST that changes nothing: each node answers it itself, without an entry in the audit log. */
  readonly reads?: true;
  /** Marks a change of this node alone, also in a cluster; the leader makes all others. */
  readonly ofNode?: true;
  /** Marks a change that is made even when the audit log cannot be written: the next leader has the entry. */
  readonly auditedNext?: true;
  /**
   * Marks an operation on a played recording, where nothing has value: only ADMIN_TOKEN guards it, where it
   * is set, and no entry is made.
   */
  readonly ofPlay?: true;
}

/** The operation is refused; nothing has changed. */
export class OperationRefused {
  readonly status: number;
  readonly error: string;
  readonly detail: string;
  readonly facts: RefusalFacts;

  constructor(status: number, error: string, detail = '', facts: RefusalFacts = {}) {
    this.status = status;
    this.error = error;
    this.detail = detail;
    this.facts = facts;
  }
}

/** @param text one of the code, by default its usual one */
export function refused(code: RefusalCode, detail = '', text?: string): OperationRefused {
  const { status, texts } = refusalOf(code);
  return new OperationRefused(status!, text ?? texts[0], detail);
}

export function refusedField(member: string, detail: string): OperationRefused {
  return refused('INVALID_FIELD', detail, `${refusalOf('INVALID_FIELD').texts[0]}${member}`);
}

type Result<Answer> = Answer | OperationRefused;

export interface Caller {
  /** Name in the audit log. */
  readonly actor: string;
  readonly role: Role;
  readonly isAudited: boolean;
  /** Body of a row with `file`, else empty. */
  readonly file: Uint8Array;
}

/** Executes a row. An exception is a fault of the node: 500, and a line in the log. */
type OperationHandler<Row extends OperationRow> = (
  input: Static<Row['input']>,
  caller: Caller,
) => Result<Static<Row['answer']>> | Promise<Result<Static<Row['answer']>>>;

export function operation<
  const Key extends `${'GET' | 'POST'} /${string}`,
  const Row extends OperationRow,
  Service,
>(
  key: Key,
  row: Row,
  handler: (service: Service) => OperationHandler<Row>,
): Defined<Key, Row, Service, OperationHandler<Row>> {
  return { key, row, handler };
}
