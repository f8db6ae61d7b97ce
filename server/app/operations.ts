/**
 * The operations of a node that runs, put together: handlers, audit log, token.
 *
 * Thread: the I/O thread.
 */
import { AuditLog, auditEntries } from '../../storage/operations/audit-log.ts';
import { keyOperations } from '../admin/key-operations.ts';
import type { AdminOperations } from '../admin/listener.ts';
import { Operations } from '../admin/operations.ts';
import { newToken } from '../admin/token-file.ts';
import type { KeyRegistry } from '../identity/key-registry.ts';
import type { Start } from './start.ts';

interface OperatedParts {
  readonly registry: KeyRegistry;
}

/** Undefined where there is no admin listener. */
export function openOperations(
  start: Start,
  { registry }: OperatedParts,
): AdminOperations | undefined {
  const { adminPort, adminToken, dataDir } = start.options.config;
  if (adminPort === 0) return undefined;
  const audit = new AuditLog(dataDir);
  start.onClose(() => audit.close());
  const operations = new Operations({
    handlers: {
      ...keyOperations(registry),
      'GET /admin/audit': async ({ before, limit = 100 }) => ({
        entries: await auditEntries(dataDir, limit, before),
      }),
    },
    audit,
    log: (line) => start.options.log('error', line),
  });
  const token = adminToken === '' ? newToken(dataDir) : adminToken;
  return { token, run: (call) => operations.run(call) };
}
