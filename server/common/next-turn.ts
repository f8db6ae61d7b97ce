/**
 * Turns of the event loop for work that is done in parts: whoever waits for the next one lets others be
 * served in between.
 *
 * One of those who wait goes on in each turn, in the order of asking, so that ten long answers at the same
 * time hold the thread no longer than one does. Promises of `setImmediate` would all go on in the same one.
 *
 * Thread: any; each has a line of its own.
 */

const waiting: (() => void)[] = [];

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(letOne);
  });
}

function letOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(letOne);
}
