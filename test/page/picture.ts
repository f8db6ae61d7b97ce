/**
 * Makes the picture of the README: what the pages of `npm start` show after two minutes.
 *
 *   npm run picture
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/common/free-port.ts';
import { temporaryDirectory, until } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { findChromium, Reader } from './browser.ts';

/** Includes a build. */
const START_MS_MAX = 600_000;
const AFTER_MS = 120_000;
/** Time that the rates and the chart of the page need. */
const LOOKING_MS = 15_000;
const SIZE = { width: 1440, height: 900 };
const MARKET = '1001';

const chromium = findChromium();
if (chromium === undefined) throw new Error('the picture needs chromium');
const [port, adminPort] = [await freePort(), await freePort()];
const settings = {
  PORT: String(port),
  ADMIN_PORT: String(adminPort),
  LOG_FORMAT: 'pretty',
  LEDGER: 'on',
  FAUCET: '1000',
};
const env = { ...process.env, ...settings, DATA_DIR: temporaryDirectory() };
const node = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'pipe'] });
process.on('exit', () => node.kill('SIGTERM'));
let log = '';
node.stderr.on('data', (bytes) => {
  log += bytes;
});
await until(() => log.includes('listening on') || node.exitCode !== null, START_MS_MAX);
if (node.exitCode !== null) throw new Error(log);
await sleep(AFTER_MS);
const reader = await Reader.open(chromium);
await reader.look(SIZE, 'dark');
await reader.page.goto(`http://127.0.0.1:${port}/app/market/${MARKET}`);
await reader.page.locator('aria/Play[role="button"]').click();
await reader.sees('[aria-label="Cash"]', /1,000/);
await reader.page.locator('aria/Amount[role="spinbutton"]').fill('25');
await takePicture('app.webp');
await reader.page.goto(`http://127.0.0.1:${adminPort}/`);
await takePicture('page.webp');
await reader.close();
node.kill('SIGTERM');
await once(node, 'close');

async function takePicture(name: `${string}.webp`): Promise<void> {
  await sleep(LOOKING_MS);
  const path = join(ROOT, 'server/page', name) as `${string}.webp`;
  await reader.page.screenshot({ path, type: 'webp', quality: 80 });
  console.log(`${path}: ${SIZE.width} x ${SIZE.height}`);
}
