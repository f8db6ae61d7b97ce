/** How many turns of the event loop somebody else has while something is answered. */
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
