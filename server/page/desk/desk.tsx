/** The desk: its head, the modes of the node, and the view that the address names. */
import { effect, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { clockText, lengthText } from '../app/format.ts';
import { setNodeUrl } from '../app/node/api.ts';
import { connection } from '../app/node/follow.ts';
import { Notices } from '../app/parts/notices.tsx';
import { hasToken, readRole, role } from './node/operator.ts';
import { awaySince, followSummary, isTokenNeeded, summary } from './node/summary.ts';
import { Modes } from './parts/modes.tsx';
import { Signed, SignedAs, SignIn } from './parts/sign-in.tsx';
import { place } from './place.ts';
import { Audit } from './views/audit.tsx';
import { Create } from './views/create.tsx';
import { Markets } from './views/markets.tsx';
import { NodeView, partText } from './views/node.tsx';
import { Resolve } from './views/resolve.tsx';
import { Venue } from './views/venue.tsx';
import { WalletView } from './views/wallet.tsx';
import { Wallets } from './views/wallets.tsx';

/** Views by the first part of the address; a number names a market. */
const VIEWS: Readonly<
  Record<string, { readonly text?: string; readonly view: () => JSX.Element }>
> = {
  markets: { text: 'Markets', view: () => <Markets /> },
  node: { text: 'Node', view: () => <NodeView /> },
  create: { text: 'Create', view: () => signed(<Create />) },
  wallets: { text: 'Wallets', view: () => signed(<Wallets />) },
  venue: { text: 'Venue', view: () => signed(<Venue />) },
  audit: { text: 'Audit', view: () => signed(<Audit />) },
  wallet: { view: () => signed(<WalletView key={place.value[1]} wallet={place.value[1] ?? ''} />) },
  resolve: { view: () => signed(<Resolve key={place.value[1]} id={place.value[1] ?? ''} />) },
};

const HOME = 'markets';

void followSummary();

/** Once the node serves its API: its address, and what a token of before allows. */
effect(() => {
  const { api, node } = summary.value ?? {};
  if (api === undefined || node === null) return;
  setNodeUrl(`${location.protocol}//${api.host || location.hostname}:${api.port}/`);
  if (role.peek() === undefined && hasToken()) void readRole();
});

export function Desk() {
  const [name = ''] = place.value;
  useSignalEffect(() => {
    document.body.toggleAttribute('data-away', awaySince.value !== 0);
  });
  useEffect(() => {
    document.title = 'prediction-market-node';
  }, [name]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top desk-top">
        <a class="brand" href="#markets">
          <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
            <path d="M3 4h14v3H3zM3 9h9v3H3z" class="mark-ask" />
            <path d="M12 14h9v3h-9zM7 19h14v3H7z" class="mark-bid" />
          </svg>
          <span>prediction-market-node</span>
        </a>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(
            ([key, { text }]) =>
              text !== undefined && (
                <a
                  key={key}
                  href={`#${key}`}
                  aria-current={key === (name in VIEWS ? name : HOME) ? 'page' : undefined}
                >
                  {text}
                </a>
              ),
          )}
        </nav>
        <Headline />
        <Connection />
        <SignedAs />
      </header>
      <main id="main" tabIndex={-1}>
        <Modes />
        <View />
      </main>
      <Notices />
    </>
  );
}

function signed(view: JSX.Element): JSX.Element {
  return <Signed>{view}</Signed>;
}

function View() {
  const [name = ''] = place.value;
  if (isTokenNeeded.value) return <SignIn />;
  const { node } = summary.value ?? {};
  if (node === undefined) return <p class="waiting muted">Loading…</p>;
  if (node === null && name !== 'node') {
    return <p class="muted">The node recovers what is on its disk.</p>;
  }
  return (VIEWS[name] ?? VIEWS[HOME])!.view();
}

function Headline() {
  const shown = summary.value;
  if (shown === undefined) return null;
  const cluster = shown.node?.cluster ?? null;
  const part = cluster === null ? '' : `${partText(cluster)} · `;
  return (
    <p id="headline" class="muted tabular">
      {part}up {lengthText(shown.uptime_seconds * 1_000)} · {shown.version}
    </p>
  );
}

function Connection() {
  const { status = 'starting' } = summary.value ?? {};
  const since = awaySince.value;
  let text = 'Live';
  let state = 'live';
  if (since !== 0) {
    state = 'away';
    text = `Away since ${clockText(since)}, trying again`;
  } else if (status === 'starting') {
    state = 'connecting';
    text = 'Starting';
  } else if (status !== 'ready') {
    state = 'away';
    text = status === 'read-only' ? 'Read-only: orders are refused' : 'Stopping';
  } else if (connection.value === 'away') {
    state = 'away';
    text = 'Reconnecting';
  }
  return (
    <p id="connection" class="pill" role="status" data-state={state}>
      {text}
    </p>
  );
}
