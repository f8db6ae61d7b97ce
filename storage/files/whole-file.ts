/**
 * Writes a file completely or not at all: it gets its name once it is complete and on disk;
 * otherwise the previous file stays.
 *
 * Thread: any.
 */
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';

export async function writeWhole(
  file: string,
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  // The rename would replace a link such as /dev/stdout, a device or a pipe.
  const target = await realpath(file).catch(() => file);
  const existing = await stat(target).catch(() => undefined);
  if (existing?.isFile() === false) throw new Error('it is there and is not a file');
  const part = `${target}.${process.pid}.part`;
  try {
    await writeFile(part, chunks, { flush: true });
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
