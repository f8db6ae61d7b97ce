/** The name under which the wallet stands in the leaderboard. It can be chosen once. */
import { useSignal } from '@preact/signals';
import { publicClient } from '../node/api.ts';
import { useLoaded } from '../node/load.ts';
import type { Session } from '../node/session.ts';
import { notify } from '../notices.ts';
import { textOf } from '../refusal-words.ts';

export function DisplayName({ own }: { readonly own: Session }) {
  const profile = useLoaded(`profile:${own.address}`, () => readName(own.address));
  const text = useSignal('');
  if (profile.value === undefined) return null;
  if (profile.value !== '')
    return (
      <p>
        You trade as <strong>{profile.value}</strong>.
      </p>
    );
  const choose = (): void => {
    own.client.call('POST /profile', { body: { name: text.peek().trim() } }).then(
      () => profile.reload(),
      (error: unknown) => notify('warning', textOf(error)),
    );
  };
  return (
    <div class="card name">
      <label class="field">
        <span>Name in the leaderboard</span>
        <input
          type="text"
          maxLength={32}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
      </label>
      <button type="button" class="plain" disabled={text.value.trim() === ''} onClick={choose}>
        Choose this name, once
      </button>
    </div>
  );
}

async function readName(address: string): Promise<string> {
  const client = await publicClient();
  const found = (await client.call('GET /public-profile', { query: { address } })) as {
    readonly name?: string | null;
  };
  return found.name ?? '';
}
