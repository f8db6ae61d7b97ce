/**
 * `npm run bench -- [suite ...]`: runs the named suites, or all of them. What is no suite is a file for
 * the challenge or a recording; --baseline DIR names a compiled older checkout to run beside (README.md).
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CATALOG_FULL, catalogSuite } from './catalog/catalog.bench.ts';
import {
  type ChallengeOptions,
  challengeExchangeSuite,
  challengeFiles,
  challengePeers,
  challengeStreams,
  challengeSuite,
} from './challenge/challenge.bench.ts';
import { CLUSTER_FULL, CLUSTER_PART_NAMES, clusterSuite } from './cluster/cluster.bench.ts';
import { ENGINE_PARTS, type EnginePart, engineSuite } from './engine/engine.bench.ts';
import { ledgerSizes, SIZE_FULL } from './engine/ledger-size.ts';
import { resolutionSuite } from './engine/resolution.bench.ts';
import { printMachine } from './harness.ts';
import { HTTP_FULL, httpSuite } from './http/http.bench.ts';
import { LEDGER_FULL, ledgerSuite } from './orders/ledger.bench.ts';
import { METRICS_FULL, metricsSuite } from './orders/metrics.bench.ts';
import { orderPathSuite, PATH_FULL, type PathShape } from './orders/order-path.bench.ts';
import { ORDER_STREAM_FULL, orderStreamSuite } from './orders/order-stream.bench.ts';
import { PAGE_FRAMES_FULL, pageFramesSuite } from './page/page-frames.bench.ts';
import { fillModelSuite } from './paper/fill-model.bench.ts';
import { MIRROR_FULL, mirrorSuite } from './paper/mirror.bench.ts';
import { backtestSuite, modelSuite, PAPER_FULL } from './paper/paper.bench.ts';
import { PROGRAMS_FULL, programSuite } from './paper/program.bench.ts';
import { limitsSuite } from './server/limits.bench.ts';
import { SIGNATURES_FULL, signaturesSuite } from './server/signatures.bench.ts';
import { validateSuite } from './server/validate.bench.ts';
import { SPANS_FULL, spansSuite } from './spans/spans.bench.ts';
import { CLUSTER_LOG_FULL, clusterLogSuite } from './storage/cluster-log.bench.ts';
import { DEMO_DISK_FULL, demoDiskSuite } from './storage/demo-disk.bench.ts';
import { LOG_FULL, logSuite } from './storage/log.bench.ts';
import { PAUSES_FULL, pausesSuite } from './storage/log-live.ts';
import {
  RESTART_FULL,
  RESTART_LEDGER_FULL,
  restartLedgerSuite,
  restartSuite,
} from './storage/restart.bench.ts';
import { CONNECTIONS_FULL, sizesSuite } from './storage/sizes.bench.ts';
import { START_FULL, startSuite } from './storage/start.bench.ts';
import { FANOUT_FULL, fanoutIdleSuite, fanoutSuite, IDLE_FULL } from './streams/fanout.bench.ts';
import { STREAMS_FULL, streamsSuite } from './streams/streams.bench.ts';

const MESSAGES = 200_000;
const BLOCKS = 10;

const CHALLENGE = { rounds: 7, roundMessages: 500_000, peerMessages: 40_000 };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { baseline: { type: 'string' } },
});
if (values.baseline !== undefined && !existsSync(join(values.baseline, 'dist/engine'))) {
  process.stderr.write(
    `--baseline ${values.baseline}: there is no dist/engine; name a checkout in which \`npm run build\` ran\n`,
  );
  process.exit(2);
}
const beside = values.baseline === undefined ? {} : { baseline: join(values.baseline, 'dist') };
const challenge: ChallengeOptions = { ...CHALLENGE, ...beside };
const path: PathShape = { ...PATH_FULL, ...beside };
/** Seconds of each open loop when the part runs alone. */
const HALF_SECONDS = 60;
const files = positionals.filter((name) => name.includes('.'));
const names = positionals.filter((name) => !name.includes('.'));

function engineOf(part: EnginePart): Promise<unknown> {
  // Turns need more of them to say something on a machine that is shared.
  const isBeside = part === 'ledger' || values.baseline !== undefined;
  const blocks = isBeside ? 3 * BLOCKS : BLOCKS;
  return engineSuite({ messages: MESSAGES, blocks, part, ...beside });
}

/**
 * Runs a part with the same flags in a process of its own. As in a node, there is then one engine in
 * it: the compiler takes the tables of the first engine of a process for constants.
 */
function inOwnProcess(...args: string[]): void {
  const { baseline } = values;
  const all = [...args, ...(baseline === undefined ? [] : ['--baseline', baseline])];
  const command = [...process.execArgv, process.argv[1]!, ...all];
  execFileSync(process.execPath, command, { stdio: 'inherit' });
}

const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  engine: async () => {
    for (const part of ENGINE_PARTS) {
      // It has nothing older to run beside.
      const isAlone = part === 'replay';
      if (!isAlone || values.baseline === undefined) inOwnProcess(`engine-${part}`);
    }
  },
  resolution: async () => resolutionSuite(100_000),
  challenge: async () => {
    for (const file of challengeFiles(files)) inOwnProcess('challenge-core', file);
    inOwnProcess('challenge-peers', ...files);
  },
  'challenge-exchange': async () => {
    if (files.length === 1) return challengeExchangeSuite(challengeStreams(files), challenge);
    for (const file of challengeFiles(files)) inOwnProcess('challenge-exchange', file);
    return undefined;
  },
  'paper-model': () => fillModelSuite(files),
  'paper-programs': () => programSuite(PROGRAMS_FULL),
  mirror: () => mirrorSuite(MIRROR_FULL),
  validate: () => validateSuite(2_000, 3 * BLOCKS),
  limits: () => limitsSuite(20_000, 3 * BLOCKS),
  signatures: () => signaturesSuite({ ...SIGNATURES_FULL, ...beside }),
  spans: () => spansSuite(SPANS_FULL),
  catalog: () => catalogSuite(CATALOG_FULL),
  http: () => httpSuite(HTTP_FULL),
  streams: () => streamsSuite(STREAMS_FULL),
  fanout: async () => {
    inOwnProcess('fanout-idle');
    inOwnProcess('fanout-delivery');
  },
  'page-frames': () => pageFramesSuite(PAGE_FRAMES_FULL),
  log: () => logSuite(LOG_FULL),
  cluster: () => clusterSuite({ ...CLUSTER_FULL, ...beside }),
  'cluster-log': () => clusterLogSuite(CLUSTER_LOG_FULL),
  pauses: () => pausesSuite(PAUSES_FULL),
  start: () => startSuite({ ...START_FULL, ...beside }),
  restart: () => restartSuite(RESTART_FULL),
  sizes: () => sizesSuite(CONNECTIONS_FULL),
  'restart-ledger': () => restartLedgerSuite(RESTART_LEDGER_FULL),
  'order-path': () => orderPathSuite(path),
  'order-stream': () => orderStreamSuite(ORDER_STREAM_FULL),
  metrics: () => metricsSuite(METRICS_FULL),
  paper: async () => {
    inOwnProcess('paper-backtest', ...files);
    if (values.baseline === undefined) inOwnProcess('paper-apply');
  },
  ledger: () => ledgerSuite({ ...LEDGER_FULL, ...beside }),
};

/** Parts of a suite, by name only. */
const parts: typeof suites = {
  ...Object.fromEntries(ENGINE_PARTS.map((part) => [`engine-${part}`, () => engineOf(part)])),
  'challenge-core': () => challengeSuite(challengeStreams(files), challenge),
  'challenge-peers': async () => challengePeers(challengeStreams(files), challenge),
  'ledger-size': async () => ledgerSizes(SIZE_FULL),
  'paper-backtest': () =>
    backtestSuite({ ...PAPER_FULL, ...beside, ...(files[0] !== undefined && { file: files[0] }) }),
  'paper-apply': async () => modelSuite(PAPER_FULL),
  'fanout-idle': () => fanoutIdleSuite(IDLE_FULL),
  'fanout-delivery': () => fanoutSuite(FANOUT_FULL),
  'demo-disk': () => demoDiskSuite(DEMO_DISK_FULL),
  'catalog-throughput': () => catalogSuite(CATALOG_FULL, ['throughput']),
  'catalog-search': () => catalogSuite(CATALOG_FULL, ['search']),
  'catalog-size': () => catalogSuite(CATALOG_FULL, ['size']),
  'catalog-switch': () => catalogSuite(CATALOG_FULL, ['switching']),
  ...Object.fromEntries(
    CLUSTER_PART_NAMES.map((part) => [
      `cluster-${part}`,
      () => clusterSuite({ ...CLUSTER_FULL, ...beside }, [part]),
    ]),
  ),
  'order-path-latency': () => orderPathSuite(path, ['latency']),
  'order-path-saturation': () => orderPathSuite(path, ['saturation']),
  'order-path-half': () => orderPathSuite({ ...path, openSeconds: HALF_SECONDS }, ['half']),
  'order-path-unsigned': () => orderPathSuite(path, ['unsigned']),
};

const known = { ...suites, ...parts };
const unknown = names.filter((name) => !(name in known));
if (unknown.length > 0) {
  process.stderr.write(
    `no suite ${unknown.join(', ')}; there is ${Object.keys(known).join(', ')}\n`,
  );
  process.exit(2);
}
printMachine('fixed, by suite');
for (const name of names.length > 0 ? names : Object.keys(suites)) await known[name]!();
