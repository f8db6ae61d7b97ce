/** Runs `work` on an open file, and always closes it. */
import { closeSync } from 'node:fs';

export function withFile<T>(file: number, work: () => T): T {
  try {
    return work();
  } finally {
    closeSync(file);
  }
}
