/** Microseconds of the monotonic clock that all processes of the machine share. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
