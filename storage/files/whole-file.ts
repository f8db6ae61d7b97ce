/**
 * A file that somebody is given: there under its name once it is whole and on disk, else what stood
 * there stays.
 *
 * Thread: any.
 */
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';

/** Rejects when the disk refuses, or with what the chunks end with; nothing is left of it then. */
export async function writeWhole(
  file: string,
  chunks: Iterable<string | Uint8Array>,
): Promise<void> {
  // A link would be replaced by the rename, such as /dev/stdout; so would a device or a pipe.
  const target = await realpath(file).catch(() => file);
  const held = await stat(target).catch(() => undefined);
  if (held?.isFile() === false) throw new Error('it is there and is not a file');
  const part = `${target}.${process.pid}.part`;
  try {
    await writeFile(part, chunks, { flush: true });
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
