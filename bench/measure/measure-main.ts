/**
 * The measuring mode of `npm run load`: sends signed orders and cancels on a schedule of their own,
 * and tells how long the answers took, in figures, a file and a picture.
 * Thread: this one counts; sending is done by processes of their own.
 * Non-goals: checking what the node says (the checking mode does).
 */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { readConfig } from '../../server/config/config.ts';
import { ask, openClient } from '../load/load-client.ts';
import { Exit } from '../load/load-main.ts';
import type { LocalNode } from '../load/load-node.ts';
import { exchangeOf } from '../load/load-orders.ts';
import { targetMarkets, withTarget } from '../load/load-target.ts';
import { FigureCollector } from './figures.ts';
import { Fleet } from './fleet.ts';
import { type Job, type Signing, signingOf } from './job.ts';
import {
  MEASURE_USAGE,
  type MeasureOptions,
  parseMeasureOptions,
  requestsOf,
} from './measure-options.ts';
import { THROTTLED } from './outcomes.ts';
import { picture } from './picture.ts';
import { latencyLine, reportLines, warningsOf } from './report.ts';
import type { Result } from './result.ts';
import { Stage } from './stage.ts';

const PROGRESS_MS = 1000;

type Print = (line: string) => void;

/** Runs one measurement; the exit code: `failed` when nothing was measured. */
export async function measureNode(
  argv: readonly string[],
  write: (text: string) => void,
): Promise<number> {
  const print: Print = (line) => write(`${line}\n`);
  const parsed = parseMeasureOptions(argv, Date.now());
  if (!parsed.ok) {
    print(parsed.problem === 'help' ? MEASURE_USAGE : `${parsed.problem}\n${MEASURE_USAGE}`);
    return parsed.problem === 'help' ? Exit.well : Exit.wrongUsage;
  }
  const configured = readConfig(process.env, [], 1);
  if (!configured.ok) {
    print(configured.problems.join('\n'));
    return Exit.wrongUsage;
  }
  const { options } = parsed;
  const isWell = await withTarget(options, {}, print, async (node) => {
    const result = await measure(options, signingOf(configured.config), node, print);
    for (const line of reportLines(result)) print(line);
    await writeFile(`${options.out}.json`, `${JSON.stringify(result, undefined, 1)}\n`);
    await writeFile(`${options.out}.svg`, picture(result));
    print(`${options.out}.json, ${options.out}.svg`);
    return result.requests.answered > 0 && !(THROTTLED in result.outcomes);
  });
  return isWell ? Exit.well : Exit.failed;
}

async function measure(
  options: MeasureOptions,
  signing: Signing,
  node: LocalNode | undefined,
  print: Print,
): Promise<Result> {
  const url = node?.url ?? options.url;
  const client = openClient(url);
  const level1 = { prefix: signing.credentialPrefix, chainId: signing.chainId };
  const { rate, batch, connections, processes } = options;
  const target = rate === undefined ? 'as fast as answers come' : `${rate} orders/s`;
  print(
    `${target} in batches of ${batch} to ${url.origin}: ${connections} connections, ` +
      `${processes} processes, --seed ${options.seed} --run ${options.run}`,
  );
  try {
    const exchangeInfo = await ask(client, 'GET', '/exchange-info');
    const stage = await Stage.open(client, level1, options);
    const markets = await targetMarkets(options, options.markets);
    await stage.fill(markets, exchangeOf(signing), options);
    const { url: _, ...plain } = options;
    const jobs = Array.from({ length: processes }, (_, index): Job => {
      const share = { index, processes };
      const own = stage.traders.filter((_, i) => i % processes === index);
      return { options: plain, url: url.href, signing, share, keys: own.map(({ key }) => key) };
    });
    const machine = machineNow();
    const { figures, outcomes } = await send(jobs, options, print);
    await stage.clear();
    return {
      format: 'load-measure/1',
      startedAt: new Date().toISOString(),
      machine,
      options: { ...plain, url: url.href },
      exchangeInfo,
      outcomes,
      warnings: warningsOf(figures, options, outcomes),
      ...figures,
    };
  } finally {
    client.close();
  }
}

async function send(
  jobs: readonly Job[],
  options: MeasureOptions,
  print: Print,
): Promise<Pick<Result, 'outcomes'> & { figures: ReturnType<FigureCollector['figures']> }> {
  const { warmup, duration, rate } = options;
  const requests = requestsOf(options);
  const keeper = new FigureCollector({ warmupSeconds: warmup, durationSeconds: duration });
  let waiting = 0;
  let signedAt = performance.now();
  const fleet = new Fleet(jobs, {
    signed: (signed) => {
      if (performance.now() - signedAt < PROGRESS_MS) return;
      signedAt = performance.now();
      print(`signing: ${signed} of ${requests} requests`);
    },
    samples: (rows, nowWaiting) => {
      keeper.add(rows);
      waiting = nowWaiting;
    },
  });
  try {
    await fleet.ready();
    let seconds = 0;
    const timer = setInterval(() => {
      seconds += 1;
      const { orders, latency } = keeper.recent();
      const of = rate === undefined ? '' : ` of ${warmup + duration}`;
      const isWarm = seconds > warmup ? '' : ', warming up';
      print(
        `${seconds} s${of}: ${orders} orders answered, ${latencyLine(latency)}, ` +
          `${waiting} requests waiting${isWarm}`,
      );
    }, PROGRESS_MS);
    try {
      await fleet.send();
    } finally {
      clearInterval(timer);
    }
    return { figures: keeper.figures(), outcomes: Object.fromEntries(fleet.outcomes) };
  } finally {
    fleet.stop();
  }
}

function machineNow(): Result['machine'] {
  const processors = cpus();
  let commit: string | undefined;
  try {
    const words = ['rev-parse', '--short', 'HEAD'];
    const output = execFileSync('git', words, { stdio: ['ignore', 'pipe', 'ignore'] });
    commit = output.toString().trim();
  } catch {
    commit = undefined;
  }
  return {
    processors: processors.length,
    model: processors[0]?.model ?? 'unknown',
    node: process.version,
    commit,
    loadAverage: loadavg()[0] ?? 0,
  };
}
