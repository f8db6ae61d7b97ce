/** Text in place of a view whose value is being read or cannot be read. */
import type { Loaded } from '../node/load.ts';

export function Waiting({ of }: { readonly of: Loaded<unknown> }) {
  if (of.failure === '') return <p class="waiting muted">Loading…</p>;
  return (
    <p class="problem" role="alert">
      {of.failure} It is tried again.
    </p>
  );
}

/** Reason for which something was not done; its line stays free while there is none. */
export function Problem({ text }: { readonly text: string }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
