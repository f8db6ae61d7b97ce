import type { ReadonlySignal } from '@preact/signals';

/** A named value. A signal, for what a stream changes, has no more than eight letters. */
export function Fact({
  name,
  value,
}: {
  readonly name: string;
  readonly value: string | ReadonlySignal<string>;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{typeof value === 'string' ? value : <span class="cell">{value}</span>}</dd>
    </div>
  );
}
