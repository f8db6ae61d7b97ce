/** `log cut`: cuts a damaged log when there is no copy of it (OPERATIONS.md). */
import { cutLog } from '../../storage/operations/cut-log.ts';
import type { Run } from './context.ts';
import { numberOf } from './settings.ts';

export const cut: Run = async ({ dataDir, stderr }, [text = '']) => {
  const sequence = numberOf(text, 'SEQUENCE', 1);
  for (const path of await cutLog(dataDir, sequence)) stderr.write(`set aside: ${path}\n`);
  return 'done';
};
