/**
 * Commands of README and of the beginnings of guides. Tests run them in their order, but for those
 * with a reason here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

/** Commands that are not run, with reasons. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'npm test': 'runs the test that runs the others',
  'npm run cli --': 'stands before each of the five commands',
  'mkdir my-bot && cd my-bot && npm init -y && npm install @polymarket/clob-client-v2@1.1.0 viem':
    'installs from the network; test/clients runs the bot',
  'node bot.mjs': 'the same',
  'open demo.html': 'needs a desktop',
};

/** Commands that are run, once each where they stand more than once. */
export const FOLLOWED: readonly string[] = [
  'npm ci && npm start',
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

/** Commands of the cluster, in their order, which test/cli/cluster-example.slow.test.ts runs. */
export const FOLLOWED_IN_CLUSTER: readonly string[] = [
  'npm run cli -- cluster example --nodes 3 --dir ./cluster',
  './cluster/start.sh',
  './cluster/run.sh node1 cluster status',
  './cluster/run.sh node1 cluster handover',
  './cluster/stop.sh',
];

/** Commands with a long text or a price, by their beginnings or contents. */
export const FOLLOWED_BY_FORM: readonly RegExp[] = [
  /^curl -s .*:3[01]00\//,
  /^LEDGER=on FAUCET=1000 CLIENT_PROFILE=polymarket .*MIRROR_URL=/s,
  /^npm run cli -- record \S+ day\.rec\.gz /,
  /^(?:market|ledger|wallet) /,
  /^npm run cli -- backtest /,
];

/** Guides in the order of the tests: each begins with commands, before its first section. */
const GUIDES = ['a-bot', 'paper-and-backtests', 'a-venue', 'a-cluster'] as const;

export function firstSteps(): string {
  const guides = GUIDES.map((name) => {
    const [first = ''] = readFileSync(join(ROOT, `docs/guides/${name}.md`), 'utf8').split('\n## ');
    return first;
  });
  return [readFileSync(join(ROOT, 'README.md'), 'utf8'), ...guides].join('\n');
}

/** Lines of their blocks, and the npm commands of their prose. */
export function commandsOfReadme(): string[] {
  const text = firstSteps();
  return [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`]+)`/g)].flatMap(([, block, inline]) => {
    if (inline !== undefined) return /\bnpm (?:start|test|run)\b/.test(inline) ? [inline] : [];
    return block!
      .replace(/^cat > .*<<'EOF'\n[\s\S]*?\nEOF\n/gm, '')
      .split(/(?<!\\)\n/)
      .map((line) => line.replace(/ +# .*$/, '').trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
  });
}
