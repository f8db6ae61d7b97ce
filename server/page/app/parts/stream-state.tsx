/** State of the market stream, as a badge. */
import { connection } from '../node/follow.ts';

const TEXTS = { connecting: 'Connecting', live: 'Live', away: 'Reconnecting' };

export function StreamState() {
  const state = connection.value;
  if (state === 'idle') return null;
  return (
    <span class="pill" data-state={state}>
      {TEXTS[state]}
    </span>
  );
}
