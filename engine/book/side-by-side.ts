/**
 * Walks many linked lists at a time. A walk waits at every step for a row that lies anywhere in memory; walks
 * side by side wait at the same time.
 */

/** Lists walked at a time: about as many reads as a processor has under way. */
export const LANES = 16;

/**
 * @param begin puts the next list into a lane; false = there is none any more
 * @param step one step of the list in a lane; false = it has ended
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
