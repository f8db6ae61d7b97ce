/** The operation that shows the audit log. Thread: I/O, or that of a command. */
import { auditEntries } from '../../storage/operations/audit-log.ts';
import type { OperationHandlers } from './operation-table.ts';

export function auditOperations(dataDir: string): OperationHandlers<'GET /admin/audit'> {
  return {
    'GET /admin/audit': async ({ before, limit = 100 }) => ({
      entries: await auditEntries(dataDir, limit, before),
    }),
  };
}
