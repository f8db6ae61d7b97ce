/**
 * Merges files in the public form to one recording: catalogs first, then messages by time. At one time those of the
 * earlier file come first.
 *
 * Thread: any; memory for a piece of each file.
 */
import { rm } from 'node:fs/promises';
import type { JsonObject } from '../catalog/catalog-json.ts';
import type { RecordingEntry } from './entries.ts';
import type { Recording } from './recording.ts';
import { understoodEvents } from './source-message.ts';
import { MarketSurvey } from './survey.ts';
import { RecordingWriter } from './writer.ts';

const PROGRESS_MESSAGES = 1_000;

export interface Merged {
  readonly messages: number;
  /** Messages that a player and a backtest leave out. */
  readonly damaged: number;
  /** Names of markets (survey.ts). */
  readonly leftOut: readonly string[];
  readonly withoutLevels: readonly string[];
}

/**
 * Rejects when two files have the same kind of messages of a market at the same time. Removes an incomplete output.
 * @param onProgress called with the messages and bytes written
 */
export async function mergeRecordings(
  sources: readonly Recording[],
  path: string,
  onProgress: (messages: number, bytes: number) => void = () => undefined,
): Promise<Merged> {
  const survey = new MarketSurvey();
  const own: Recording[] = [];
  for (const source of sources) {
    if (source.survey === undefined) own.push(source);
    else survey.join(source.survey, source.path);
  }
  const { leftOut, withoutLevels, ...found } = survey.result();
  const events = numbered([...found.events, ...own.flatMap(({ catalog }) => catalog.events)]);
  const started = Math.min(...sources.map(({ header }) => header.started));
  const writer = await RecordingWriter.create(path, {
    venue: sources.map(({ header }) => header.venue).join(' '),
    started,
    markets: once([...found.markets, ...own.flatMap(({ header }) => header.markets)]),
    inferred: once([...found.inferred, ...own.flatMap(({ header }) => header.inferred)]),
  });
  for (const event of events) await writer.write({ at: started, kind: 'catalog', event });
  let at = started;
  let messages = 0;
  let damaged = 0;
  try {
    for await (const entry of inOrder(sources)) {
      at = entry.at;
      if (entry.kind === 'damaged') damaged += 1;
      // The recording has one end, and nothing that could not be read.
      if (entry.kind === 'damaged' || entry.kind === 'end') continue;
      if (entry.kind === 'message') {
        messages += 1;
        if (messages % PROGRESS_MESSAGES === 0) onProgress(messages, writer.bytes);
        understoodEvents(entry.message, () => {
          damaged += 1;
        });
      }
      await writer.write(entry);
    }
  } catch (error) {
    await writer.close(at);
    await rm(path);
    throw error;
  }
  await writer.close(at);
  return { messages, damaged, leftOut, withoutLevels };
}

/**
 * Returns each event once, numbered anew: files of the same markets repeat it, and each file counts its own. The first
 * one counts where they differ.
 */
function numbered(events: readonly JsonObject[]): JsonObject[] {
  const known = new Map<string, JsonObject>();
  let count = 0;
  for (const event of events) {
    const markets = event.markets as readonly JsonObject[];
    const key = markets.map((market) => market.conditionId ?? JSON.stringify(market)).join(' ');
    if (known.has(key)) continue;
    const own = markets.map((market) => {
      count += 1;
      return { ...market, id: String(count) };
    });
    known.set(key, { ...event, id: String(known.size + 1), markets: own });
  }
  return [...known.values()];
}

function once<Item>(items: readonly Item[]): Item[] {
  return [...new Set(items)];
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
