/**
 * The thread that searches one catalog generation: takes its texts, builds the full-text index, and
 * answers until it is ended. Questions that come before wait in its mailbox.
 */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import type { TextMessage } from './catalog-thread.ts';
import type { SearchMessage, SearchQuestion, SearchThreadData } from './generation.ts';
import { SearchIndexBuilder } from './search-index.ts';
import type { SearchTexts } from './search-texts.ts';

/** Texts of this length, in bytes, are worth one. */
const COLLECTION_BYTES = 1 << 20;
/** What one collection has freed, the next one gives back to the system. */
const SECOND_COLLECTION_MS = 1_000;

const decoder = new TextDecoder();
const port = parentPort;
assert(port !== null, 'it runs as a thread');

/**
 * Gives up the memory of the texts, several times that of the index: a thread that mostly waits
 * would not collect it for a long time. V8 offers that to new contexts only.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function serve(builder: SearchIndexBuilder): void {
  const index = builder.build();
  port?.on('message', ({ id, query }: SearchQuestion) => {
    const rows = index.search(query);
    port.postMessage({ id, rows } satisfies SearchMessage, [rows.events.buffer, rows.tags.buffer]);
  });
}

// From here on it may be terminated.
port.postMessage('loaded' satisfies SearchMessage);
const { texts } = workerData as SearchThreadData;
let builder: SearchIndexBuilder | undefined = new SearchIndexBuilder();
let bytes = 0;
// Keeps the thread alive while there is nobody to ask it yet.
texts.on('message', (message: TextMessage) => {
  if (builder === undefined) return;
  if (message !== null) {
    bytes += message.byteLength;
    builder.add(JSON.parse(decoder.decode(message)) as SearchTexts);
    return;
  }
  serve(builder);
  builder = undefined;
  texts.close();
  if (bytes < COLLECTION_BYTES) return;
  setImmediate(collectGarbage);
  setTimeout(collectGarbage, SECOND_COLLECTION_MS);
});
