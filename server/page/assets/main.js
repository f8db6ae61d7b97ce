// @ts-check
/**
 * Starts the page: the node's summary names the public API, the address names the chosen market
 * (`#<market>/<outcome>`), and the stream sends its events.
 */
import { Api } from './api.js';
import { byId, markCurrent, setText } from './dom.js';
import { clockText, lengthText } from './format.js';
import { MarketStream } from './market-stream.js';
import { MarketView } from './market-view.js';
import { MarketList } from './markets.js';
import { NodeFeed } from './node-feed.js';
import { NodePanel, partText } from './node-panel.js';
import { askToken } from './token-dialog.js';

/** @import { Market } from './api.js' */
/** @import { StreamState } from './market-stream.js' */
/** @import { Summary } from './node-feed.js' */

const VIEWS = document.querySelectorAll('.views button');

/** @type {Api | undefined} */
let api;
/** @type {MarketStream | undefined} */
let stream;
/** @type {StreamState} */
let streamState = 'connecting';
/** @type {Summary | undefined} */
let summary;
let awaySince = 0;
/** @type {Map<string, Market>} */
const known = new Map();

const view = new MarketView((outcome) => {
  location.hash = `${view.market?.id}/${outcome}`;
});
const list = new MarketList((markets) => {
  for (const market of markets) learn(market);
  readChosen(markets);
});
const panel = new NodePanel();
new NodeFeed(showSummary, askToken);

addEventListener('hashchange', () => choose());
for (const button of VIEWS) {
  button.addEventListener('click', () => showView(button.getAttribute('data-view') ?? 'market'));
}

/** @param {Market} market */
function learn(market) {
  known.set(market.id, market);
  view.update(market);
}

/** Reads the chosen market where the list does not have it, as one that has just been closed. @param {readonly Market[]} listed */
async function readChosen(listed) {
  const id = view.market?.id;
  if (id === undefined || listed.some((market) => market.id === id)) return;
  const market = await api?.market(id).catch(() => undefined);
  if (market !== undefined) learn(market);
}

/** @param {Summary} now */
function showSummary(now) {
  summary = now;
  panel.show(now);
  showConnection();
  setText(byId('version'), now.version);
  const cluster = now.node?.cluster ?? null;
  const part = cluster === null ? '' : `${partText(cluster)} · `;
  setText(byId('headline'), `${part}up ${lengthText(now.uptime_seconds * 1_000)}`);
  if (api === undefined && now.node !== null) begin(now);
}

/** @param {Summary} now the first one of a node that serves its API */
async function begin({ api: { host, port } }) {
  api = new Api(`${location.protocol}//${host || location.hostname}:${port}`);
  view.api = api;
  const docs = /** @type {HTMLAnchorElement} */ (byId('docs'));
  docs.href = `${api.origin}/docs`;
  docs.hidden = false;
  stream = new MarketStream({
    url: api.marketStream,
    onEvent: (event) => view.take(event),
    onBegin: () => view.reread(),
    onState: showStream,
  });
  await list.begin(api);
  await choose();
}

/** Shows what the address names; without a name the busiest market. */
async function choose() {
  const { hash } = location;
  const [id = '', outcome = '0'] = hash.slice(1).split('/');
  const [busiest] = known.values();
  try {
    const isNamed = /^\d+$/.test(id);
    const market = isNamed ? (known.get(id) ?? (await api?.market(id))) : (view.market ?? busiest);
    // Another may have been chosen meanwhile.
    if (market === undefined || hash !== location.hash) return;
    const wanted = isNamed
      ? Math.min(Number(outcome) || 0, market.tokens.length - 1)
      : view.outcome;
    setText(byId('question'), market.question);
    // An address may also name a part of the page.
    if (market.id === view.market?.id && wanted === view.outcome) return;
    view.choose(market, wanted);
    list.setCurrent(market.id);
    stream?.follow(view.token);
    if (isNamed) showView('market');
  } catch (error) {
    if (hash !== location.hash) return;
    const isUnknown = error instanceof Error && error.message.startsWith('404');
    const text = isUnknown ? 'There is no such market' : 'This market could not be read';
    setText(byId('question'), text);
  }
}

/** @param {StreamState} state */
function showStream(state) {
  if (state === 'away' && streamState !== 'away') awaySince = Date.now();
  if (state === 'live' && streamState === 'away') {
    list.refresh();
    choose();
  }
  streamState = state;
  document.body.toggleAttribute('data-away', state === 'away');
  showConnection();
}

function showConnection() {
  const pill = byId('connection');
  const status = summary?.status ?? 'starting';
  let state = streamState;
  let text = 'Connecting';
  if (streamState === 'away') text = `Away since ${clockText(awaySince)}, trying again`;
  else if (status === 'starting') text = 'Starting';
  else if (status !== 'ready') {
    state = 'away';
    text = status === 'read-only' ? 'Read-only: orders are refused' : 'Stopping';
  } else if (streamState === 'live') text = 'Live';
  pill.dataset.state = state;
  setText(pill, text);
}

/** Phones show one view at a time. @param {string} name */
function showView(name) {
  document.body.dataset.view = name;
  for (const button of VIEWS) {
    markCurrent(button, button.getAttribute('data-view') === name, 'page');
  }
}
