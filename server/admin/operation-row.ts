/**
 * What a row of the table of operations says, and what a handler gives back.
 *
 * Thread: any. Not here: how a request becomes a call (operations.ts).
 */
import type { RefusalFacts } from '../common/error-bodies.ts';
import type { Static, TObject, TSchema } from '../common/schema.ts';
import type { Defined } from '../http/route.ts';

export interface OperationRow {
  /** One line for the README and the API document. */
  readonly does: string;
  /** The query of a GET, or the JSON body of a POST; each member says its rule as `description`. */
  readonly input: TObject;
  /** Of a 200. */
  readonly answer: TSchema;
  /** Of a POST: bytes of its body, where they may be more than those of other operations. */
  readonly bodyBytes?: number;
  /** Returns what the audit log keeps of a long input; where this is absent, it keeps all of it. */
  readonly audited?: (input: never) => object;
  /** Of a POST that changes nothing: each node answers it itself, and the audit log has no entry. */
  readonly reads?: true;
  /** A change of this node alone, also in a cluster; all others are made by the node that leads. */
  readonly ofNode?: true;
  /** It is made also where the audit log cannot be written: the node that leads next has the entry. */
  readonly auditedNext?: true;
  /**
   * Of a recording that is played, where nothing is worth anything: ADMIN_TOKEN alone guards it, where it is set, and no
   * entry is made.
   */
  readonly ofPlay?: true;
}

/** The operation cannot be done; nothing has changed. */
export class OperationRefused {
  readonly status: 400 | 403 | 404 | 409 | 503;
  readonly error: string;
  readonly detail: string;
  readonly facts: RefusalFacts;

  constructor(
    status: OperationRefused['status'],
    error: string,
    detail = '',
    facts: RefusalFacts = {},
  ) {
    this.status = status;
    this.error = error;
    this.detail = detail;
    this.facts = facts;
  }
}

type Result<Answer> = Answer | OperationRefused;

/** The caller of an operation. */
export interface Caller {
  /** As the audit log names it. */
  readonly actor: string;
  /** Whether the audit log has an entry of it; false for a read too. */
  readonly isAudited: boolean;
}

/** Does what a row says. What it throws is a fault of the node: 500, and a line in the log. */
export type OperationHandler<Row extends OperationRow> = (
  input: Static<Row['input']>,
  caller: Caller,
) => Result<Static<Row['answer']>> | Promise<Result<Static<Row['answer']>>>;

/** An operation: its row, and its handler beside it, which is made for a running node or a stopped directory. */
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
