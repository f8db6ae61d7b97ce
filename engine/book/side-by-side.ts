/**
 * Walks many linked lists at the same time. Each step of a walk waits for a row from main memory.
 * With many walks in parallel the processor waits for many rows at once.
 */

/** Lists walked at the same time: about the number of reads that a processor can have in flight. */
export const LANES = 16;

/**
 * @param begin puts the next list into a lane; false = no list is left
 * @param step does one step of the list in a lane; false = the list has ended
 */
export function sideBySide(
  begin: (lane: number) => boolean,
  step: (lane: number) => boolean,
): void {
  const isBusy = new Uint8Array(LANES);
  let busy = 0;
  while (busy < LANES && begin(busy)) {
    isBusy[busy] = 1;
    busy += 1;
  }
  while (busy > 0) {
    for (let lane = 0; lane < LANES; lane++) {
      if (isBusy[lane] === 0 || step(lane) || begin(lane)) continue;
      isBusy[lane] = 0;
      busy -= 1;
    }
  }
}
