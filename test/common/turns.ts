/** Counts the iterations of the event loop that pass before an answer. */
export async function turnsOf<T>(answer: T | Promise<T>): Promise<{ turns: number; value: T }> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  try {
    return { value: await answer, turns };
  } finally {
    isOver = true;
  }
}
