/**
 * `npm run torture`: every part in its long form, each in a process of its own, and a table of what was
 * done; `npm run torture -- model --seed 7 --minutes 1` runs one part, here.
 * Exit codes: 0 nothing found, 1 a part failed or did not reach its goal, 2 wrong usage.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freshSeed } from '../common/random.ts';
import { PARTS } from './parts.ts';

const MS_PER_MINUTE = 60_000;
const NAMES = Object.keys(PARTS);
const WIDTH = 12;
const USAGE = `usage: npm run torture -- [part ...] [--seed N] [--minutes M] [--times N] [--only NAME,NAME]
Without a part: all of them, three hours at most. With --minutes a part runs so long, whatever its goal;
with --times it does so much; hostile has a short form of a minute. With --only it runs these of its attacks or
faults.
${NAMES.map((name) => `  ${name.padEnd(WIDTH)} ${PARTS[name]?.does}`).join('\n')}`;

interface Outcome {
  readonly part: string;
  readonly isWell: boolean;
  readonly text: string;
  readonly seconds: number;
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function runHere(
  part: string,
  seed: number,
  minutes: number | undefined,
  only: readonly string[] | undefined,
  times: number | undefined,
): Promise<Outcome> {
  const { goal, minutes: most, run } = PARTS[part]!;
  say(`${part}: --seed ${seed}`);
  const startedAt = performance.now();
  const isPart = minutes !== undefined || only !== undefined || times !== undefined;
  const since = (): number => Math.round((performance.now() - startedAt) / 1_000);
  try {
    const { count, text } = await run({
      seed,
      goal: times ?? (isPart ? Number.POSITIVE_INFINITY : goal),
      milliseconds: (minutes ?? most) * MS_PER_MINUTE,
      only,
      say: (line) => say(`${part}: ${line}`),
    });
    const isWell = isPart || count >= goal;
    const short = isWell ? '' : `; the goal of ${goal} was not reached in ${most} minutes`;
    return { part, isWell, text: `${text}${short}`, seconds: since() };
  } catch (error) {
    say(`${part}: ${(error as Error).stack ?? error}`);
    const [text = ''] = (error as Error).message.split('\n');
    return { part, isWell: false, text, seconds: since() };
  }
}

/** Runs a part in a process of its own, which may die without harm to the others. */
async function runApart(part: string, args: readonly string[]): Promise<Outcome> {
  const file = fileURLToPath(import.meta.url);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, file, part, ...args, '--report'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let outcome: Outcome | undefined;
  child.on('message', (message) => {
    outcome = message as Outcome;
  });
  const [code, signal] = await once(child, 'exit');
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return outcome ?? { part, isWell: false, text: `its process ended: ${code ?? signal}`, seconds };
}

/**
 * Runs all parts: some need one processor only and run beside others, some need the machine alone.
 */
async function runAll(
  names: readonly string[],
  run: (name: string) => Promise<Outcome>,
): Promise<Outcome[]> {
  const inTurn = async (how: string): Promise<Outcome[]> => {
    const outcomes: Outcome[] = [];
    for (const name of names) if (PARTS[name]?.how === how) outcomes.push(await run(name));
    return outcomes;
  };
  const [quiet, busy] = await Promise.all([inTurn('beside'), inTurn('in turn')]);
  return [...quiet, ...busy, ...(await inTurn('alone'))];
}

function table(seed: number, outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ isWell, part, seconds, text }) =>
    [part.padEnd(WIDTH), String(seed).padEnd(WIDTH), `${seconds} s`.padStart(7)]
      .concat(isWell ? 'well  ' : 'FAILED', text)
      .join('  '),
  );
  const head = ['part'.padEnd(WIDTH), 'seed'.padEnd(WIDTH), 'time'.padStart(7), 'result', 'done'];
  return [head.join('  '), ...rows].join('\n');
}

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string' },
      times: { type: 'string' },
      only: { type: 'string' },
      report: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const seed = values.seed === undefined ? freshSeed() : Number(values.seed);
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  const times = values.times === undefined ? undefined : Number(values.times);
  const unknown = positionals.filter((name) => PARTS[name] === undefined);
  const isNumber = Number.isInteger(seed) && (minutes ?? 1) > 0 && (times ?? 1) > 0;
  if (values.help === true || unknown.length > 0 || !isNumber) {
    say(unknown.length > 0 ? `no such part: ${unknown.join(', ')}\n${USAGE}` : USAGE);
    return values.help === true ? 0 : 2;
  }
  const names = positionals.length === 0 ? NAMES : positionals;
  const args = ['--seed', String(seed), ...(minutes ? ['--minutes', String(minutes)] : [])];
  const outcomes: Outcome[] =
    names.length === 1
      ? [await runHere(names[0]!, seed, minutes, values.only?.split(','), times)]
      : await runAll(names, (name) => runApart(name, args));
  if (values.report === true) process.send?.(outcomes[0]);
  else say(table(seed, outcomes));
  return outcomes.every(({ isWell }) => isWell) ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  say(`${(error as Error).message}\n${USAGE}`);
  return 2;
});
// Nodes, threads and sockets that a failed part has left are not waited for.
process.exit();
