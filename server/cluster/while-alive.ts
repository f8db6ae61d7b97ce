/** A stream of another node, given up where that is silent. Any thread. */

const SILENT_MS_MAX = 15_000;
const LOOK_MS = 250;

/** Ends with an Error where nothing comes for long, and with the reason of the signal. */
export async function* whileAlive(
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
  silentMsMax = SILENT_MS_MAX,
): AsyncGenerator<Buffer, void, void> {
  const source = pieces[Symbol.asyncIterator]();
  // Infinity: the reader has a piece, and may take its time.
  let since = Number.POSITIVE_INFINITY;
  let watch: NodeJS.Timeout | undefined;
  const given = new Promise<never>((_, reject) => {
    watch = setInterval(() => {
      const silentMs = performance.now() - since;
      if (signal?.aborted === true) reject(signal.reason);
      else if (silentMs > silentMsMax) reject(new Error('it is silent'));
    }, LOOK_MS);
  });
  // Nobody may be waiting when it is given up.
  given.catch(() => undefined);
  try {
    for (;;) {
      since = performance.now();
      const next = await Promise.race([source.next(), given]);
      since = Number.POSITIVE_INFINITY;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    clearInterval(watch);
  }
}
