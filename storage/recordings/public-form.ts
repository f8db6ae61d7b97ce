/**
 * Public form of a recording: one message of a market channel a line, or a list of them, without header and catalog
 * (survey.ts).
 *
 * Thread: any.
 */
import { isObject } from '../catalog/catalog-json.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';
import { timeIn } from './source-message.ts';

/**
 * Yields entries of the lines of a file, by batch. Calls `onCut` for an incomplete last line, which is left out. A message without a time has
 * that of the message before it.
 * @param started time of the messages before the first one with a time
 */
export async function* publicEntries(
  batches: AsyncIterable<readonly string[]>,
  path: string,
  started = 0,
  onCut: (line: number) => void = () => undefined,
): AsyncGenerator<RecordingEntry[]> {
  let number = 0;
  let at = started;
  let broken = 0;
  for await (const lines of batches) {
    const entries: RecordingEntry[] = [];
    for (const line of lines) {
      number += 1;
      if (broken > 0) throw new RecordingDamaged(`${path}: line ${broken} is no JSON`);
      const messages = line.trim() === '' ? [] : parsed(line);
      if (messages === undefined) broken = number;
      for (const message of messages ?? []) {
        if (!isObject(message)) {
          throw new RecordingDamaged(`${path}: line ${number} is no message`);
        }
        at = timeIn(message) ?? at;
        entries.push({ at, kind: 'message', message });
      }
    }
    yield entries;
  }
  if (broken > 0) onCut(broken);
}

function parsed(line: string): readonly unknown[] | undefined {
  try {
    const json: unknown = JSON.parse(line);
    // A venue may send several at once.
    return Array.isArray(json) ? json : [json];
  } catch {
    return undefined;
  }
}
