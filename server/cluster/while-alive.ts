/** A stream of another node, given up where that is silent. Any thread. */

/** A peer that is silent for so long is given up. */
const SILENT_MS_MAX = 15_000;
const LOOK_MS = 250;

/** Ends with an Error where nothing comes for long, and with the reason of the signal. */
export async function* whileAlive(
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, void> {
  const source = pieces[Symbol.asyncIterator]();
  let last = performance.now();
  let watch: NodeJS.Timeout | undefined;
  const given = new Promise<never>((_, reject) => {
    watch = setInterval(() => {
      const silentMs = performance.now() - last;
      if (signal?.aborted === true) reject(signal.reason);
      else if (silentMs > SILENT_MS_MAX) reject(new Error('it is silent'));
    }, LOOK_MS);
  });
  // Nobody may be waiting when it is given up.
  given.catch(() => undefined);
  try {
    for (;;) {
      const next = await Promise.race([source.next(), given]);
      if (next.done === true) return;
      last = performance.now();
      yield next.value;
    }
  } finally {
    clearInterval(watch);
  }
}
