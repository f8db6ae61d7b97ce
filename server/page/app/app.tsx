/** The page: its head with search and wallet, the view that the address names, notices and the list of keys. */
import { useEffect } from 'preact/hooks';
import { AccountBar, WalletProblem } from './parts/account-bar.tsx';
import { KeysDialog } from './parts/keys-dialog.tsx';
import { Message } from './parts/message.tsx';
import { Notices } from './parts/notices.tsx';
import { SearchBox } from './parts/search-box.tsx';
import { StreamState } from './parts/stream-state.tsx';
import { route } from './route.ts';
import { EventView } from './views/event.tsx';
import { Home } from './views/home.tsx';
import { Join } from './views/join.tsx';
import { Leaderboard } from './views/leaderboard.tsx';
import { MarketView } from './views/market.tsx';
import { PortfolioView } from './views/portfolio.tsx';

const LINKS = [
  { view: 'home', href: './', text: 'Markets' },
  { view: 'portfolio', href: 'portfolio', text: 'Portfolio' },
  { view: 'leaderboard', href: 'leaderboard', text: 'Leaderboard' },
] as const;

export function App() {
  const { view } = route.value;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href="./">
          <span class="hidden">All markets</span>
          <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
            <rect class="mark-bid" x="2" y="9" width="7" height="9" rx="2" />
            <rect class="mark-ask" x="11" y="2" width="7" height="16" rx="2" />
          </svg>
        </a>
        <nav aria-label="Views">
          {LINKS.map(({ href, text, view: own }) => (
            <a key={own} href={href} aria-current={own === view ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
        <SearchBox />
        <StreamState />
        <AccountBar />
      </header>
      <WalletProblem />
      <Message />
      <main id="main" tabIndex={-1}>
        <View />
      </main>
      <Notices />
      <KeysDialog />
    </>
  );
}

function View() {
  const at = route.value;
  useEffect(() => {
    document.title = 'Prediction markets';
  }, [at]);
  switch (at.view) {
    case 'market':
      return <MarketView key={at.id} id={at.id} />;
    case 'event':
      return <EventView key={at.id} id={at.id} />;
    case 'portfolio':
      return <PortfolioView />;
    case 'leaderboard':
      return <Leaderboard />;
    case 'join':
      return <Join />;
    case 'home':
      return <Home tag={at.tag} />;
  }
}
