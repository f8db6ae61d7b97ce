/** A named field whose text a signal holds. */
import type { Signal } from '@preact/signals';
import type { PartialInputHTMLAttributes } from 'preact';

type Limits = 'id' | 'maxLength' | 'min' | 'placeholder' | 'required' | 'step';

interface Shown extends Pick<PartialInputHTMLAttributes<HTMLInputElement>, Limits> {
  readonly label: string;
  readonly text: Signal<string>;
  readonly type?: 'number' | 'password' | 'text';
}

export function TextField({ label, text, type = 'text', ...limits }: Shown) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        {...limits}
        // Types of fields differ in the roles that they may have, and this one has none.
        type={type as 'text'}
        autocomplete="off"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
    </label>
  );
}
