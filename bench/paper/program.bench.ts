/**
 * `npm run bench -- paper-programs`: a strategy that is a program in Python beside the same one in the process, by time
 * of the clock, because most of it is waiting; and the runs of a sweep beside as many single runs, by processor time.
 * Everything takes turns.
 *
 * Not measured: the start of the program; several processors.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backtest } from '../../server/backtest/backtest.ts';
import { CommandStrategy } from '../../server/backtest/command/command-strategy.ts';
import { Sweep } from '../../server/backtest/sweep/sweep.ts';
import { median, print, ratioLine } from '../common/figures.ts';
import { drawnRecording, type PaperShape } from './paper.bench.ts';

export const PROGRAMS_FULL: PaperShape = { markets: 20, messages: 20_000, rounds: 5 };

const RUNS = 8;
const PROGRAM_AIM = 0.1;
const SWEEP_AIM = 1.5;

/** Decodes each event and answers it. */
const PROGRAM = `import json, sys
print(json.dumps({"type": "strategy", "events": ["book"]}), flush=True)
for line in sys.stdin:
    json.loads(line)
    print(json.dumps({"type": "done"}), flush=True)
`;
const STRATEGY = `export const parameters = { n: 1 };
export default () => ({ onBook() {} });
`;

export interface ProgramFigures {
  /** Events a second in Python to those of the same strategy in the process. */
  readonly program: number;
  /** Processor time of single runs to that of a sweep. */
  readonly sweep: number;
}

export async function programSuite(shape: PaperShape): Promise<ProgramFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'program-bench-'));
  try {
    const recording = await drawnRecording(join(directory, 'drawn.rec'), shape);
    const [program, file] = [join(directory, 'idle.py'), join(directory, 'idle.mjs')];
    writeFileSync(program, PROGRAM);
    writeFileSync(file, STRATEGY);
    return {
      program: await programBesideOwn(recording, `python3 ${program}`, shape.rounds),
      sweep: await sweepBesideRuns(recording, file, shape.rounds),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function programBesideOwn(
  recording: string,
  command: string,
  rounds: number,
): Promise<number> {
  const own: number[] = [];
  const python: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const strategy = await CommandStrategy.start(command);
    const inProcess = await rateOf(() => backtest(recording, { onBook: () => undefined }));
    const outside = await rateOf(() => backtest(recording, strategy.strategy({})));
    await strategy.close();
    // The first round warms up.
    if (round < 0) continue;
    own.push(inProcess);
    python.push(outside);
  }
  print('strategy in the process', `${median(own).toFixed(0)} events a second`);
  print('strategy in Python', `${median(python).toFixed(0)} events a second`);
  const ratio = median(python) / median(own);
  ratioLine({ name: 'in Python to in the process', ratio, bound: 'at least', aim: PROGRAM_AIM });
  return ratio;
}

async function rateOf(run: () => Promise<{ readonly messages: number }>): Promise<number> {
  const start = performance.now();
  const { messages } = await run();
  return (1_000 * messages) / (performance.now() - start);
}

async function sweepBesideRuns(recording: string, file: string, rounds: number): Promise<number> {
  const jobs = Array.from({ length: RUNS }, (_, n) => ({
    recording,
    origin: { file },
    options: {},
    values: { n },
    span: {},
  }));
  const sweep = new Sweep(1, undefined, () => undefined);
  const ratios: number[] = [];
  try {
    for (let round = -1; round < rounds; round++) {
      const single = await processorMs(async () => {
        for (const _ of jobs) await backtest(recording, { onBook: () => undefined });
      });
      const swept = await processorMs(() => sweep.run(jobs));
      if (round >= 0) ratios.push(single / swept);
    }
  } finally {
    await sweep.close();
  }
  const ratio = median(ratios);
  const name = `${RUNS} single runs to ${RUNS} of a sweep, processor time`;
  ratioLine({ name, ratio, bound: 'at least', aim: SWEEP_AIM });
  return ratio;
}

async function processorMs(run: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await run();
  const { system, user } = process.cpuUsage(start);
  return (system + user) / 1_000;
}
