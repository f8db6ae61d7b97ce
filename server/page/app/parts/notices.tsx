/** The notices on the screen, read out by screen readers. */
import { dismiss, notices } from '../notices.ts';

export function Notices() {
  return (
    <section class="notices" aria-live="polite" aria-label="Notices">
      {notices.value.map(({ id, kind, text }) => (
        <div key={id} class="notice" data-kind={kind}>
          <span>{text}</span>
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </section>
  );
}
