/** A venue by invitation alone, on the trading page in a real browser. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { inviteDigest } from '../../server/wallet/invitations.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { click, findChromium, Reader } from './browser.ts';

const CODE = 'ab'.repeat(16);
const SETTINGS = { LEDGER: 'on', INVITES: 'on', APP: 'on' };

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

test('somebody joins by an invitation where there is no other way', { skip }, async (t) => {
  const directory = temporaryDirectory();
  await withMarkets(directory, [{ id: 1 }]);
  const operator = await OperatorNode.start(directory, SETTINGS);
  t.after(() => operator.node.stop());
  await operator.done('POST /admin/invites', {
    digests: [inviteDigest(CODE).toString('hex')],
    cash: '250',
  });
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  const base = `http://127.0.0.1:${operator.node.port}/app/`;
  await reader.look({ width: 1440, height: 900 }, 'light');

  await t.test('each view without a wallet tells of the invitation, and none of Play', async () => {
    for (const view of ['', 'market/1', 'portfolio']) {
      await reader.page.goto(`${base}${view}`);
      await reader.sees('.account > a', /^You need an invitation$/);
      await reader.sees('main', /Join with an invitation to get a wallet/);
      assert.doesNotMatch(await reader.text('#app'), /Play|wallet for play/);
    }
    await click(reader, 'main a[href="join"]');
    await reader.sees('h1', /^Join with your invitation$/);
    assert.deepEqual(await reader.faults(), []);
  });

  await t.test('its code brings a name and cash once, and leaves the address', async () => {
    const join = async (name: string): Promise<void> => {
      await reader.page.goto('about:blank');
      await reader.page.goto(`${base}join#${CODE}`);
      await reader.page.locator('aria/Your name[role="textbox"]').fill(name);
      await click(reader, 'aria/Join[role="button"]');
    };
    await join('ada');
    await reader.sees('[aria-label="Cash"]', /^250\.00$/);
    assert.equal(reader.page.url(), base);
    await reader.page.evaluate('localStorage.clear()');
    await join('grace');
    await reader.sees('.join [role=alert]', /./);
    assert.deepEqual(
      reader.errors.filter((line) => !/40\d/.test(line)),
      [],
    );
  });
});
