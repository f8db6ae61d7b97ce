/** Joining by an invitation: its code comes behind the # of the address, which no server sees. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ApiError } from '../../../../client/client.ts';
import { isJoining, redeem } from '../node/session.ts';
import { notify } from '../notices.ts';
import { Problem } from '../parts/problem.tsx';
import { personText, textOf } from '../refusal-words.ts';
import { go } from '../route.ts';

const CODE = /^[0-9a-f]{32}$/i;
const NAME = /^(?!0x)[a-z0-9_.-]{3,32}$/i;

export function Join() {
  const code = useSignal(location.hash.slice(1));
  const name = useSignal('');
  const failure = useSignal('');
  const isWhole = CODE.test(code.value) && NAME.test(name.value);
  const join = (event: Event): void => {
    event.preventDefault();
    if (!isWhole) return;
    failure.value = '';
    redeem({ code: code.peek(), name: name.peek() }).then(welcome, (error: unknown) => {
      failure.value = error instanceof ApiError ? personText(error) : textOf(error);
    });
  };
  return (
    <form class="join card" onSubmit={join}>
      <h1>Join with your invitation</h1>
      <p class="muted">
        Your browser makes a wallet for play, and keeps its key. The invitation works once.
      </p>
      <Field
        label="Invitation"
        value={code.value}
        take={(text) => {
          code.value = text;
        }}
      />
      <Field
        label="Your name"
        value={name.value}
        take={(text) => {
          name.value = text;
        }}
      />
      <p class="muted">
        Others see this name in the leaderboard. It has 3 to 32 letters, digits, dots, hyphens or
        underscores, and stays.
      </p>
      <Problem text={failure.value} />
      <button type="submit" class="main wide" disabled={!isWhole || isJoining.value}>
        Join
      </button>
    </form>
  );
}

function welcome(): void {
  // The address with the code leaves the history.
  history.replaceState(undefined, '', new URL('./', document.baseURI));
  go('./');
  notify('good', 'You are in. The key of your wallet is kept in this browser and nowhere else.');
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly take: (text: string) => void;
}

function Field({ label, take, value }: FieldProps): JSX.Element {
  return (
    <label>
      {label}
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        maxLength={32}
        value={value}
        onInput={({ currentTarget }) => take(currentTarget.value.trim())}
      />
    </label>
  );
}
