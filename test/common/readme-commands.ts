/** Commands of README: test/cli/readme.test.ts runs them in their order, but for those with a reason here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

/** Commands that are not run, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'npm test': 'runs the test that runs the others',
  'npm run torture': 'takes three hours',
  'npm run test:long': 'runs that test, too',
  'npm run check': 'of contributors',
  'npm run coverage': 'of contributors',
  'npm run bench': 'of contributors',
  'npm run load -- measure': 'the same as the one above with its options',
  'npm run cli -- catalog import FILE': 'needs a file; test/cli/commands.test.ts',
  'npm run cli --': 'stands before each of the five commands',
  'npm run test:clients': 'installs clients from the network',
  'mkdir my-bot && cd my-bot && npm init -y && npm install @polymarket/clob-client-v2@1.1.0 viem':
    'installs from the network; test/clients runs the bot',
  'node bot.mjs': 'the same',
  'open demo.html': 'needs a desktop',
};

/** Commands that are run, once each where they stand more than once. */
export const FOLLOWED: readonly string[] = [
  'npm ci && npm start',
  'npm start',
  'npm start -- --no-demo',
  'PORT=3100 ADMIN_PORT=3101 DATA_DIR=./data2 npm start',
  'npm run example -- taker',
  'npm run load -- --kill --orders 2000 --batch 15',
  'npm run load -- measure --spawn --rate 1000 --duration 30',
  'npm ci && CLIENT_PROFILE=polymarket npm start',
  'npm run example -- maker',
  'LEDGER=on npm start -- --no-demo',
  'npm start -- --play',
  'npm run cli -- record http://127.0.0.1:3000 demo.rec --markets top:20',
];

/** Commands of the cluster, in their order, which test/cli/cluster-example.test.ts runs. */
export const FOLLOWED_IN_CLUSTER: readonly string[] = [
  'npm run cli -- cluster example --nodes 3 --dir ./cluster',
  './cluster/start.sh',
  './cluster/run.sh node1 cluster status',
  './cluster/run.sh node1 cluster handover',
  './cluster/stop.sh',
];

/** Those whose text is long or says a price: by how they begin, or what they hold. */
export const FOLLOWED_BY_FORM: readonly RegExp[] = [
  /^curl -s .*:3[01]00\//,
  /^LEDGER=on FAUCET=1000 CLIENT_PROFILE=polymarket .*MIRROR_URL=/s,
  /^npm run cli -- record \S+ day\.rec\.gz /,
  /^(?:market|ledger|wallet) /,
  /^npm run cli -- backtest /,
];

/** Lines of its blocks, and the commands of its prose that npm runs. */
export function commandsOfReadme(): string[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  return [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`]+)`/g)].flatMap(([, block, inline]) => {
    if (inline !== undefined) return /\bnpm (?:start|test|run)\b/.test(inline) ? [inline] : [];
    return block!
      .replace(/^cat > .*<<'EOF'\n[\s\S]*?\nEOF\n/gm, '')
      .split(/(?<!\\)\n/)
      .map((line) => line.replace(/ +# .*$/, '').trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
  });
}
