/** Operation that shows the audit log. Thread: I/O, or that of a command. */

import { auditEntries } from '../../storage/operations/audit-log.ts';
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
    (dataDir: string) =>
      async ({ before, limit = 100 }) => ({
        entries: await auditEntries(dataDir, limit, before),
      }),
  ),
];
