/**
 * The thread that searches one catalog generation: receives its texts, builds the full-text index,
 * and answers searches until it is terminated. Earlier searches wait in its message queue.
 */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import type { SearchMessage, SearchQuestion, SearchThreadData } from './catalog-generation.ts';
import type { TextMessage } from './catalog-thread.ts';
import { SearchIndexBuilder } from './search-index.ts';
import type { SearchTexts } from './search-texts.ts';

/** Bytes of text after which a garbage collection is worth its time. */
const COLLECTION_BYTES = 1 << 20;
/** A second collection returns the memory that the first one freed to the system. */
const SECOND_COLLECTION_MS = 1_000;

const decoder = new TextDecoder();
const port = parentPort;
assert(port !== null, 'it runs as a thread');

/**
 * Frees the memory of the texts, several times that of the index: a waiting thread would not
 * collect it. V8 offers `gc` only to new contexts.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function serve(builder: SearchIndexBuilder): void {
  const index = builder.build();
  port?.on('message', ({ id, most, query }: SearchQuestion) => {
    const rows = index.search(query, most);
    port.postMessage({ id, rows } satisfies SearchMessage, [rows.events.buffer, rows.tags.buffer]);
  });
}

// From now on it may be terminated.
port.postMessage('loaded' satisfies SearchMessage);
const { texts } = workerData as SearchThreadData;
let builder: SearchIndexBuilder | undefined = new SearchIndexBuilder();
let bytes = 0;
// Keeps the thread alive until the first search.
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
