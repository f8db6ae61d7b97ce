/**
 * The operations of the admin listener, one row each: what it does, what it takes, what it answers. A GET
 * reads; a POST changes something and gets an entry in the audit log. Validation, document, README and the
 * types of the handlers come from this table.
 */
import type { OperationHandler, OperationRow } from './operation-row.ts';
import * as s from './operation-schemas.ts';

export const OPERATIONS = {
  'GET /admin/keys': {
    does: 'API keys and read-only keys that were issued, without their secrets',
    input: s.KeysInput,
    answer: s.KeysAnswer,
  },
  'POST /admin/keys': {
    does: 'issues the API key of a wallet and nonce without its signature',
    input: s.IssueInput,
    answer: s.IssuedAnswer,
  },
  'POST /admin/keys/revoke': {
    does: 'revokes a key',
    input: s.RevokeInput,
    answer: s.RevokedAnswer,
  },
  'GET /admin/audit': {
    does: 'the audit log: every change that was made through these routes, newest first',
    input: s.AuditInput,
    answer: s.AuditAnswer,
  },
} as const satisfies Readonly<Record<`${'GET' | 'POST'} /admin/${string}`, OperationRow>>;

export type OperationKey = keyof typeof OPERATIONS;

/** A handler for each of these rows. */
export type OperationHandlers<Keys extends OperationKey = OperationKey> = {
  readonly [Key in Keys]: OperationHandler<(typeof OPERATIONS)[Key]>;
};

export function isOperation(key: string): key is OperationKey {
  return Object.hasOwn(OPERATIONS, key);
}
