/**
 * Whether a call failed because no file could be opened: this process has as many open as it may (EMFILE), or
 * the whole system has (ENFILE). Nothing was changed then, and the same call may go through later.
 *
 * Thread: any.
 */
const CODES: readonly (string | undefined)[] = ['EMFILE', 'ENFILE'];

export function isOutOfFiles(error: unknown): boolean {
  return CODES.includes((error as NodeJS.ErrnoException | null)?.code);
}
