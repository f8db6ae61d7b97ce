/**
 * A file that somebody is given: there under its name once it is whole and on disk, else what stood
 * there stays.
 *
 * Thread: any.
 */
import { rename, rm, stat, writeFile } from 'node:fs/promises';

/** Rejects when the disk refuses, or with what the chunks end with; nothing is left of it then. */
export async function writeWhole(
  file: string,
  chunks: Iterable<string | Uint8Array>,
): Promise<void> {
  // A device or a pipe would be replaced by the rename.
  const held = await stat(file).catch(() => undefined);
  if (held?.isFile() === false) throw new Error('it is there and is not a file');
  const part = `${file}.${process.pid}.part`;
  try {
    await writeFile(part, chunks, { flush: true });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
