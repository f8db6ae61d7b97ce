/**
 * Lines of a text that arrives in pieces, without a byte order mark, one batch for each piece. Memory: a piece and
 * the line that it begins with.
 *
 * Thread: any.
 */
import { StringDecoder } from 'node:string_decoder';
import { RecordingDamaged } from './entries.ts';

const LINE_LENGTH_MAX = 2 ** 26;

export async function* linesOf(
  pieces: AsyncIterable<Buffer>,
  path: string,
): AsyncGenerator<string[]> {
  const decoder = new StringDecoder();
  let rest = '';
  let isFirst = true;
  for await (const piece of pieces) {
    const text = decoder.write(piece);
    const lines = (rest + (isFirst ? text.replace(/^\uFEFF/, '') : text)).split('\n');
    isFirst = false;
    rest = lines.pop()!;
    if (rest.length > LINE_LENGTH_MAX) throw new RecordingDamaged(`${path}: a line is too long`);
    if (lines.length > 0) yield lines;
  }
  if (rest !== '') yield [rest];
}
