/** The wallet in the head of the page: Play or a wallet of the browser, cash, and what can be done with the wallet. */
import { useRef } from 'preact/hooks';
import { addressText } from '../format.ts';
import { freeCashText } from '../node/account.ts';
import { modes, publicClient } from '../node/api.ts';
import { type BrowserWallet, browserWallets } from '../node/browser-wallets.ts';
import { useLoaded } from '../node/load.ts';
import {
  connect,
  hasPlayKey,
  importKey,
  isJoining,
  joinFailure,
  leave,
  moveChain,
  play,
  type Session,
  session,
  wrongChain,
} from '../node/session.ts';
import { askForNotices, noticesAllowed, notify } from '../notices.ts';
import { chainName, textOf } from '../refusal-words.ts';

interface Dialog {
  readonly current: HTMLDialogElement | null;
}

export function AccountBar() {
  const dialog = useRef<HTMLDialogElement>(null);
  const own = session.value;
  // Connects, also again after a failure: `modes` says what is offered.
  useLoaded('modes', publicClient);
  const isClosed = modes.value?.invites === true;
  const isShown = own !== undefined || browserWallets.value.length > 0;
  return (
    <div class="account">
      {own !== undefined && <Cash />}
      {own === undefined && isClosed && <a href="join">You need an invitation</a>}
      {own === undefined && !isClosed && (
        <button type="button" class="main" disabled={isJoining.value} onClick={start}>
          Play
        </button>
      )}
      {isShown && (
        <button type="button" class="plain" onClick={() => dialog.current?.showModal()}>
          {own === undefined ? 'Wallets' : addressText(own.address)}
        </button>
      )}
      <dialog ref={dialog} aria-label="Wallet">
        <h2>Wallet</h2>
        {own !== undefined && <Own own={own} dialog={dialog} />}
        <Others own={own} dialog={dialog} />
        <form method="dialog">
          <button type="submit" class="main">
            Close
          </button>
        </form>
      </dialog>
    </div>
  );
}

/** Reason for which no wallet is used, or the first thing that the wallet in use has to do. */
export function WalletProblem() {
  const wrong = wrongChain.value;
  if (joinFailure.value === '') return null;
  return (
    <p class="strip" role="alert">
      {joinFailure.value}
      {wrong !== undefined && (
        <button type="button" class="plain" onClick={() => void moveChain().catch(() => undefined)}>
          Switch to {chainName(wrong.needed)}
        </button>
      )}
    </p>
  );
}

function start(): void {
  play().then(
    () =>
      notify(
        'good',
        'You have a wallet for play. Its key is kept in this browser and nowhere else.',
      ),
    (error: unknown) => notify('warning', `No wallet was made: ${textOf(error)}`),
  );
}

function Cash() {
  return (
    <span class="cash">
      <span class="muted" aria-hidden="true">
        Cash
      </span>
      <output class="tabular" aria-label="Cash">
        {freeCashText}
      </output>
    </span>
  );
}

/** Wallets to use in place of the one in use. */
function Others({ dialog, own }: { readonly own: Session | undefined; readonly dialog: Dialog }) {
  const others = browserWallets.value.filter(({ rdns }) => rdns !== own?.wallet?.rdns);
  const isPlayed = own !== undefined && own.wallet === undefined;
  // By invitation a new wallet is made with its code.
  const mayPlay = !isPlayed && (hasPlayKey() || modes.value?.invites !== true);
  const use = (join: () => Promise<void>) => () => {
    dialog.current?.close();
    join().catch(() => undefined); // joinFailure says it
  };
  return (
    <>
      <div class="row">
        {others.map((wallet) => (
          <button
            key={wallet.rdns}
            type="button"
            class="plain"
            disabled={isJoining.value}
            onClick={use(() => connect(wallet))}
          >
            Connect {wallet.name}
          </button>
        ))}
        {mayPlay && (
          <button type="button" class="plain" disabled={isJoining.value} onClick={use(play)}>
            {hasPlayKey() ? 'Use the wallet for play' : 'Make a wallet for play'}
          </button>
        )}
      </div>
      {others.length > 0 && (
        <p class="muted">
          A wallet of the browser asks you to confirm each order. What you sign here may be valid on
          another exchange of the same chain: use an account that holds nothing there.
        </p>
      )}
    </>
  );
}

function Own({ dialog, own }: { readonly own: Session; readonly dialog: Dialog }) {
  return (
    <>
      <p class="address">{own.address}</p>
      {own.wallet === undefined ? (
        <PlayWallet dialog={dialog} exportKey={own.exportKey} />
      ) : (
        <Connected wallet={own.wallet} dialog={dialog} />
      )}
      {noticesAllowed.value === 'default' && (
        <div class="row">
          <button type="button" class="plain" onClick={() => void askForNotices()}>
            Allow notices
          </button>
        </div>
      )}
    </>
  );
}

function Connected({
  dialog,
  wallet,
}: {
  readonly wallet: BrowserWallet;
  readonly dialog: Dialog;
}) {
  const disconnect = (): void => {
    dialog.current?.close();
    leave();
  };
  return (
    <>
      <p class="muted">This is an account of {wallet.name}, which keeps its key and signs.</p>
      <div class="row">
        <button type="button" class="plain" onClick={disconnect}>
          Disconnect
        </button>
      </div>
    </>
  );
}

function PlayWallet({
  dialog,
  exportKey,
}: {
  readonly dialog: Dialog;
  readonly exportKey: Session['exportKey'];
}) {
  const field = useRef<HTMLInputElement>(null);
  const copy = (): void => {
    const key = exportKey?.() ?? '';
    if (field.current !== null) field.current.value = key;
    field.current?.select();
    navigator.clipboard?.writeText(key).catch(() => undefined);
  };
  const takeOver = (): void => {
    importKey(field.current?.value.trim() ?? '').then(
      () => dialog.current?.close(),
      (error: unknown) => notify('warning', textOf(error)),
    );
  };
  const forget = (): void => {
    const isSure = confirm('Forget this wallet? Without its key nobody can ever use it again.');
    if (!isSure) return;
    dialog.current?.close();
    leave();
  };
  return (
    <>
      <p class="muted">
        This is a wallet for play. Its key is only in this browser: whoever clears the browser’s
        data loses it, and whoever has the key has the wallet.
      </p>
      <label>
        Key
        <input ref={field} type="text" autocomplete="off" spellcheck={false} />
      </label>
      <div class="row">
        <button type="button" class="plain" onClick={copy}>
          Show and copy the key
        </button>
        <button type="button" class="plain" onClick={takeOver}>
          Use this key
        </button>
        <button type="button" class="plain danger" onClick={forget}>
          Forget the wallet
        </button>
      </div>
    </>
  );
}
