/** The form for the token, in place of what needs it; and the button that forgets it. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { TextField } from '../../app/parts/field.tsx';
import { Problem } from '../../app/parts/problem.tsx';
import { role, signIn, signOut, tokenProblem } from '../node/operator.ts';

/** Content that needs a token; the form for the token before the node has taken one. */
export function Signed({ children }: { readonly children: ComponentChildren }) {
  return role.value === undefined ? <SignIn /> : children;
}

export function SignIn() {
  const token = useSignal('');
  const name = useSignal('');
  return (
    <form
      class="card desk-form sign-in"
      aria-label="Sign in"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn(token.value.trim(), name.value.trim());
      }}
    >
      <h1>Sign in</h1>
      <p class="muted">
        ADMIN_TOKEN or RESOLVER_TOKEN of the node, or the text of DATA_DIR/admin.token. It is kept
        until this tab is closed.
      </p>
      <TextField id="token" label="Token" type="password" required text={token} />
      <TextField
        id="operator"
        label="Your name in the audit log (optional)"
        maxLength={64}
        text={name}
      />
      <Problem text={tokenProblem.value} />
      <button type="submit" class="main">
        Sign in
      </button>
    </form>
  );
}

export function SignedAs() {
  if (role.value === undefined) return null;
  return (
    <button type="button" class="plain" onClick={signOut}>
      Sign out ({role.value.role})
    </button>
  );
}
