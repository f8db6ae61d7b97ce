/** A region that scrolls where its content does not fit, also with keys. */
import type { ComponentChildren } from 'preact';

interface Shown {
  /** Name of the region, for screen readers. */
  readonly label: string;
  readonly children: ComponentChildren;
}

export function Scroll({ children, label }: Shown) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls with keys.
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
