/**
 * Turns of the event loop for work that is done in parts: code that waits for its next turn lets
 * other work run in between.
 *
 * In each turn only one of the waiting parts continues, in the order of their calls. So ten long
 * answers at the same time block the thread no longer than one does. With promises of
 * `setImmediate` all of them would continue in the same turn.
 *
 * Thread: any; each thread has a queue of its own.
 */

const waiting: (() => void)[] = [];

export function nextIteration(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(letOne);
  });
}

function letOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(letOne);
}
