/** Keys of the page, listed under `?`. No key sends an order. */
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../route.ts';

const KEYS = [
  ['/', 'Search markets'],
  ['g then m', 'Markets'],
  ['g then p', 'Portfolio'],
  ['g then l', 'Leaderboard'],
  ['b', 'Ticket: buy'],
  ['s', 'Ticket: sell'],
  ['a', 'Ticket: amount'],
  ['?', 'This list'],
] as const;

const PLACES: Readonly<Record<string, string>> = {
  m: './',
  p: 'portfolio',
  l: 'leaderboard',
};

/** Time for the second key, in milliseconds. */
const SECOND_MS = 1_500;

export function KeysDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let goSince = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isSecond = event.timeStamp - goSince < SECOND_MS;
      goSince = 0;
      const place = isSecond ? PLACES[event.key] : undefined;
      if (place !== undefined) go(place);
      else if (event.key === 'g') goSince = event.timeStamp;
      else if (event.key === '?') dialog.current?.showModal();
      else if (event.key === '/') document.getElementById('search')?.focus();
      else if (event.key === 'b') document.getElementById('side-BUY')?.click();
      else if (event.key === 's') document.getElementById('side-SELL')?.click();
      else if (event.key === 'a') document.getElementById('ticket-amount')?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <dialog ref={dialog} aria-label="Keys">
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">Nothing is sent by a key.</p>
      <form method="dialog">
        <button type="submit" class="plain">
          Close
        </button>
      </form>
    </dialog>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.matches('input:not([type=radio]), textarea, select') ||
      target.closest('dialog') !== null)
  );
}
