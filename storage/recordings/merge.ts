/**
 * Makes one recording of several files in the public form: their catalogs first, then their messages in the order
 * of their times; at one time those of the earlier file first.
 *
 * Thread: any; memory for a piece of each file.
 */
import type { JsonObject } from '../catalog/catalog-json.ts';
import type { RecordingEntry } from './entries.ts';
import type { Recording } from './recording.ts';
import { RecordingWriter } from './writer.ts';

/** Resolves with the number of messages. Rejects when two files have a market of the same name. */
export async function mergeRecordings(
  sources: readonly Recording[],
  path: string,
): Promise<number> {
  const markets = sources.flatMap(({ header }) => header.markets);
  const twice = markets.find((name, index) => markets.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two files have the market ${twice}`);
  const started = Math.min(...sources.map(({ header }) => header.started));
  const writer = await RecordingWriter.create(path, {
    venue: sources.map(({ header }) => header.venue).join(' '),
    started,
    markets,
    inferred: sources.flatMap(({ header }) => header.inferred),
  });
  const events = sources.flatMap(({ catalog }) => catalog.events);
  for (const [index, event] of events.entries()) {
    await writer.write({ at: started, kind: 'catalog', event: numbered(event, index + 1) });
  }
  let at = started;
  let count = 0;
  for await (const entry of inOrder(sources)) {
    await writer.write(entry);
    at = entry.at;
    count += 1;
  }
  await writer.close(at);
  return count;
}

/** Each file counts its events from 1. */
function numbered(event: JsonObject, number: number): JsonObject {
  const id = String(number);
  const markets = event.markets as readonly JsonObject[];
  return { ...event, id, markets: markets.map((market) => ({ ...market, id })) };
}

async function* inOrder(sources: readonly Recording[]): AsyncGenerator<RecordingEntry> {
  const heads = await Promise.all(
    sources.map(async (source) => {
      const entries = source[Symbol.asyncIterator]();
      return { entries, next: await entries.next() };
    }),
  );
  for (;;) {
    let earliest: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next.done === true) continue;
      if (earliest === undefined || head.next.value.at < earliest.next.value.at) earliest = head;
    }
    if (earliest === undefined) return;
    yield earliest.next.value;
    earliest.next = await earliest.entries.next();
  }
}
