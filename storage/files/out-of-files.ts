/**
 * Recognises a call that failed because no file could be opened: this process (EMFILE) or the whole system
 * (ENFILE) has too many open files. Nothing was changed, and the same call may succeed later.
 *
 * Thread: any.
 */
const CODES: readonly (string | undefined)[] = ['EMFILE', 'ENFILE'];

export function isOutOfFiles(error: unknown): boolean {
  return CODES.includes((error as NodeJS.ErrnoException | null)?.code);
}

const TEXT = /\bEMFILE\b|\bENFILE\b|[Tt]oo many open files/;

/** Judges a message that came from another thread. */
export function saysOutOfFiles(message: string): boolean {
  return TEXT.test(message);
}
