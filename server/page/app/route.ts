/**
 * The view that the address names, below the base of the page: `market/<id>`, `event/<id>`, `portfolio`, `leaderboard`, `join`; any
 * other is home, where `?tag=<slug>` filters. Links within the page change the view without a load.
 */
import { signal } from '@preact/signals';

export type Route =
  | { readonly view: 'home' /** Slug; '' = all. */; readonly tag: string }
  | { readonly view: 'portfolio' | 'leaderboard' | 'join' }
  | { readonly view: 'market' | 'event'; readonly id: string };

/** Path of the page, with a slash at its end. */
const BASE = new URL(document.baseURI).pathname;

export const route = signal<Route>(parse());

addEventListener('popstate', () => {
  route.value = parse();
});

document.addEventListener('click', (event) => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!isPlain || event.defaultPrevented || !(event.target instanceof Element)) return;
  const link = event.target.closest('a');
  if (link === null || link.download !== '' || link.origin !== location.origin) return;
  if (!link.pathname.startsWith(BASE)) return;
  event.preventDefault();
  go(link.href);
});

/** @param place relative to the base of the page */
export function go(place: string): void {
  history.pushState(undefined, '', new URL(place, document.baseURI));
  route.value = parse();
  scrollTo(0, 0);
  // The link that had the focus may be gone.
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** Goes to the first view with markets of one tag, or of all with ''. */
export function filter(tag: string): void {
  go(tag === '' ? './' : `./?${new URLSearchParams({ tag })}`);
}

/** Link to a market or an event, relative to the base of the page. */
export function linkTo(view: 'market' | 'event', id: string): string {
  return `${view}/${encodeURIComponent(id)}`;
}

function parse(): Route {
  const [view = '', id = ''] = location.pathname.slice(BASE.length).split('/');
  if ((view === 'market' || view === 'event') && id !== '') return { view, id: decoded(id) };
  if (view === 'portfolio' || view === 'leaderboard' || view === 'join') return { view };
  return { view: 'home', tag: new URLSearchParams(location.search).get('tag') ?? '' };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
