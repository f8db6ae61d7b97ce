/** Small things about files that several rooms of storage need. */
import { closeSync } from 'node:fs';

/** Runs `work` and closes the file, whatever happens. */
export function closed<T>(file: number, work: () => T): T {
  try {
    return work();
  } finally {
    closeSync(file);
  }
}
