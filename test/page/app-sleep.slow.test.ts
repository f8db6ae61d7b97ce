/** The trading page after a sleep of the machine: its scripts stood still, and its connections are dead. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { click, fill, findChromium, Reader } from './browser.ts';
import { TcpProxy } from './tcp-proxy.ts';

const SLEEP_MS = 3_000;
/** The browser takes the page for hidden afterwards: it gets no frames, for which real clicks wait. */
const SELL_SEVEN = `{
  document.getElementById('side-SELL').click();
  document.getElementById('kind-Market').click();
  const isShares = ({ textContent }) => textContent === 'Shares';
  const input = [...document.querySelectorAll('label')].find(isShares).querySelector('input');
  input.value = '7';
  input.dispatchEvent(new Event('input', { bubbles: true }));
}`;

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

test('after a sleep the page shows what happened meanwhile, and trades on', { skip }, async (t) => {
  const directory = temporaryDirectory();
  const [market] = await withMarkets(directory, [{ id: 1 }]);
  assert(market !== undefined);
  const node = await TestNode.start(directory, { LEDGER: 'on', FAUCET: '1000', APP: 'on' });
  t.after(() => node.stop());
  const maker = await Trader.join(node, 'maker of the page');
  await maker.place(node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 100 });
  await maker.split(node, market, 50);
  const proxy = await TcpProxy.start(node);
  t.after(() => proxy.stop());
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  await reader.look({ width: 1440, height: 900 }, 'light');
  await reader.page.goto(`http://127.0.0.1:${proxy.port}/app/market/1`);
  await click(reader, 'aria/Play[role="button"]');
  await reader.sees('[aria-label="Cash"]', /^1,000\.00$/);
  await click(reader, 'aria/Limit[role="radio"]');
  await fill(reader, 'Limit price', '0.30');
  await fill(reader, 'Shares', '10');
  await click(reader, 'aria/Buy Yes[role="button"]');
  await reader.sees('.ladder .bids', /0\.30yours/);

  const devtools = await reader.page.createCDPSession();
  await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
  proxy.silence();
  await maker.place(node, { market, side: 'SELL', ticks: 30, shares: 10 });
  await maker.place(node, { market, side: 'BUY', ticks: 35, shares: 7 });
  await sleep(SLEEP_MS);
  await devtools.send('Page.setWebLifecycleState', { state: 'active' });

  await reader.sees('.ladder .bids', /0\.357/);
  await reader.sees('.market-head', /You have10 at 0\.30/);
  assert.doesNotMatch(await reader.text('.ladder'), /yours/);
  await reader.sees('[aria-label="Cash"]', /^997\.00$/);
  await reader.page.evaluate(SELL_SEVEN);
  await reader.sees('.summary', /You receive2\.45/);
  await reader.page.evaluate("document.querySelector('.ticket .main').click()");
  await reader.sees('[aria-label="Cash"]', /^999\.45$/);
  await reader.page.evaluate("document.querySelector('a[href=portfolio]').click()");
  // As a maker it bought.
  await reader.sees('main', /Buy0\.30010/);
  // Of its connections alone the browser says that they failed.
  const isOther = (text: string): boolean => !/^(?:WebSocket connection|Failed to load)/.test(text);
  assert.deepEqual(reader.errors.filter(isOther), []);
});
