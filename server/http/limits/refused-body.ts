/**
 * The rest of a refused body: read and dropped, within bounds, before the connection ends. Its sender reads
 * the answer only after the whole body, so closing at once would lose the answer.
 *
 * Thread: I/O. Answers are in uws-request-context.ts.
 */
import type { HttpResponse } from '../uws.ts';

const BYTES_MAX = 64 * 1024 * 1024;

/**
 * @param response begun, without a length: the package lets go of a connection as soon as an answer is
 *   complete
 * @param isOver returns true when the response is dead
 * @param msMax longest wait for the rest
 * @returns a function to be called with each chunk; it returns true when the response was ended
 */
export function discardRest(
  response: HttpResponse,
  isOver: () => boolean,
  msMax: number,
): (bytes: number, isLast: boolean) => boolean {
  const giveUp = (): void => void (isOver() || response.close());
  const patience = setTimeout(giveUp, msMax).unref();
  let discarded = 0;
  return (bytes, isLast) => {
    discarded += bytes;
    if (isOver()) return false;
    if (isLast) response.end();
    else if (discarded > BYTES_MAX) response.close();
    else return false;
    clearTimeout(patience);
    return isLast;
  };
}
