/** A wallet of the browser on the trading page, in a real browser and on a real node with a ledger. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { click, fill, findChromium, Reader } from './browser.ts';
import { FakeWallet, WALLET_NAME } from './fake-wallet.ts';

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const CONNECT = `aria/Connect ${WALLET_NAME}[role="button"]`;

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

test('a wallet of the browser trades on the page', { skip }, async (t) => {
  const directory = temporaryDirectory();
  const [market] = await withMarkets(directory, [{ id: 1 }]);
  const node = await TestNode.start(directory, { LEDGER: 'on', FAUCET: '1000', APP: 'on' });
  t.after(() => node.stop());
  const maker = await Trader.join(node, 'maker of the page');
  await maker.place(node, { market: market!, outcome: 1, side: 'BUY', ticks: 60, shares: 100 });
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  const wallet = await FakeWallet.install(reader.page, `0x${'5'.repeat(64)}`);
  const short = new RegExp(`${wallet.address.slice(0, 6)}…${wallet.address.slice(-4)}`);
  await reader.look(DESKTOP, 'light');
  await reader.page.goto(`http://127.0.0.1:${node.port}/app/market/1`);

  await t.test('on another chain it is told which one is needed, and can be moved', async () => {
    wallet.chainId = 1;
    await click(reader, 'aria/Wallets[role="button"]');
    await click(reader, CONNECT);
    await reader.sees('.strip', /is on Ethereum, chain 1\. This venue needs Polygon, chain 137\./);
    assert.equal(wallet.signatures, 0);
    wallet.refuses = true;
    await click(reader, 'aria/Switch to Polygon, chain 137[role="button"]');
    await reader.sees('.strip', /^You refused it in your wallet\. Nothing was sent\.$/);
    assert.equal(wallet.chainId, 137);
  });

  await t.test('its owner confirms the key and each order, and may refuse them', async () => {
    wallet.refuses = false;
    await click(reader, 'aria/Wallets[role="button"]');
    await click(reader, CONNECT);
    await reader.sees('[aria-label="Cash"]', /^1,000\.00$/);
    await reader.sees('.account', short);
    assert.equal(wallet.signatures, 1);
    wallet.refuses = true;
    await fill(reader, 'Amount', '10');
    await click(reader, 'aria/Buy Yes[role="button"]');
    await reader.sees('.notices', /You refused it in your wallet/);
    wallet.refuses = false;
    await click(reader, 'aria/Buy Yes[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^990\.00$/);
    assert.equal(wallet.signatures, 2);
  });

  await t.test('its order rests until it is cancelled, which needs no signature', async () => {
    await click(reader, 'aria/Limit[role="radio"]');
    await fill(reader, 'Limit price', '0.30');
    await fill(reader, 'Shares', '10');
    await click(reader, 'aria/Buy Yes[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^987\.00$/);
    await click(reader, 'aria/Portfolio[role="link"]');
    await reader.sees('main', /Open orders.*Buy0\.30010/s);
    await click(reader, 'aria/Cancel all[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^990\.00$/);
    assert.equal(wallet.signatures, 3);
  });

  await t.test('a page that is loaded again goes on without a signature', async () => {
    await reader.page.reload();
    await reader.sees('[aria-label="Cash"]', /^990\.00$/);
    await reader.sees('main', /Yes250\.4000\.4/);
    assert.equal(wallet.signatures, 3);
    wallet.isLocked = true;
    await reader.page.reload();
    await reader.sees('.strip', /shows no account\. Unlock it, and connect it again\.$/);
    wallet.isLocked = false;
    await reader.page.reload();
    await reader.sees('[aria-label="Cash"]', /^990\.00$/);
  });

  await t.test('a change of its chain or account is told in words', async () => {
    await wallet.moveTo(1);
    await reader.sees('.strip', /This venue needs Polygon, chain 137\./);
    await wallet.moveTo(137);
    await reader.page.waitForFunction("document.querySelector('.strip') === null");
    await wallet.moveTo(1);
    // Each of these sizes loads the page again.
    for (const [size, scheme] of [
      [PHONE, 'dark'],
      [DESKTOP, 'light'],
    ] as const) {
      await reader.look(size, scheme);
      await reader.sees('.strip', /This venue needs Polygon, chain 137\./);
      assert.deepEqual(await reader.faults(), []);
      const [wider = 0] = await reader.ask<number[]>('overflow');
      assert(wider <= 0, `${wider} px too wide`);
    }
    await wallet.moveTo(137);
    await reader.sees('[aria-label="Cash"]', /^990\.00$/);
    await wallet.tell('accountsChanged', [`0x${'ab'.repeat(20)}`]);
    await reader.sees('.strip', /shows account 0xABaB…ABaB now\. Connect it to use that one\.$/);
    await reader.sees('main', /Press Play above/);
  });

  await t.test('a wallet for play and that of the browser take turns', async () => {
    await click(reader, 'aria/Play[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^1,000\.00$/);
    const played = await reader.text('.account > button');
    assert.doesNotMatch(played, short);
    await click(reader, '.account > button');
    assert.deepEqual(await reader.faults(), []);
    await click(reader, CONNECT);
    await reader.sees('[aria-label="Cash"]', /^990\.00$/);
    await click(reader, '.account > button');
    await click(reader, 'aria/Use the wallet for play[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^1,000\.00$/);
    assert.equal(await reader.text('.account > button'), played);
  });
  assert.deepEqual(reader.errors, []);
  assert.deepEqual([...reader.origins], [`http://127.0.0.1:${node.port}`]);
});
