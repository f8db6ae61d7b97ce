/** Operation that shows the audit log. Thread: I/O, or that of a command. */

import { auditEntries } from '../../storage/operations/audit-log.ts';
import { type HandlersOf, handlersOf } from '../http/route.ts';
import { operation } from './operation-row.ts';
import { AuditAnswer, AuditInput } from './operation-schemas.ts';

export const AUDIT_OPERATIONS = [
  operation(
    'GET /admin/audit',
    {
      does: 'the audit log: every change that was made through these routes, newest first',
      input: AuditInput,
      answer: AuditAnswer,
    },
    ({ dataDir }: AuditOperationParts) =>
      async ({ before, limit = 100 }) => ({
        entries: await auditEntries(dataDir, limit, before),
      }),
  ),
];

interface AuditOperationParts {
  readonly dataDir: string;
}

export function auditOperations(dataDir: string): HandlersOf<typeof AUDIT_OPERATIONS> {
  return handlersOf(AUDIT_OPERATIONS, { dataDir });
}
