/**
 * Single entry point to the package tinybench. A task is a block of messages; its rate is messages over the mean time
 * of a block, with the spread over the blocks beside it.
 *
 * Figures are printed with what is needed to check them: seed, machine, commit.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { Bench } from 'tinybench';

export interface Task {
  readonly name: string;
  /** Messages of one block. */
  readonly messages: number;
  /** Runs before each block, outside the measured time. */
  readonly before?: () => void;
  readonly run: () => void;
}

export interface Measured {
  readonly name: string;
  readonly perSecond: number;
}

/** Runs each task for `blocks` measured blocks after two that warm up. */
export async function measure(tasks: readonly Task[], blocks: number): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const task of tasks) {
    const bench = new Bench({ time: 0, iterations: blocks, warmupTime: 0, warmupIterations: 2 });
    bench.add(task.name, task.run, task.before === undefined ? {} : { beforeEach: task.before });
    await bench.run();
    const result = bench.tasks[0]!.result;
    if (!('latency' in result)) throw new Error(`${task.name} did not run`);
    const perSecond = (task.messages * 1_000) / result.latency.mean;
    measured.push({ name: task.name, perSecond });
    const spread = (100 * result.latency.sd) / result.latency.mean;
    const rate =
      perSecond >= 1e5 ? `${(perSecond / 1e6).toFixed(2)} M/s` : `${perSecond.toFixed(0)} /s`;
    process.stdout.write(
      `${task.name.padEnd(44)} ${rate.padStart(12)}  ${((1e9 / perSecond) | 0).toString().padStart(7)} ns` +
        `  sd ${spread.toFixed(1)} % of ${blocks} blocks of ${task.messages}\n`,
    );
  }
  return measured;
}

/**
 * Runs two tasks block by block in turns, so that a disturbance meets both; each is its median, and
 * the ratio is that of the medians. The machine's speed may change within seconds: only this ratio
 * says anything about an older build. Processor time leaves out what other programs took.
 */
export function measureBeside(
  own: Task,
  older: Task,
  blocks: number,
  beside = 'older',
): Measured[] {
  const tasks = [own, older];
  const times = tasks.map(() => new Float64Array(blocks));
  const processor = tasks.map(() => new Float64Array(blocks));
  for (let block = -2; block < blocks; block++) {
    for (const [i, task] of tasks.entries()) {
      task.before?.();
      const before = process.cpuUsage();
      const start = performance.now();
      task.run();
      const time = performance.now() - start;
      const { system, user } = process.cpuUsage(before);
      if (block < 0) continue; // warms up
      times[i]![block] = time;
      processor[i]![block] = user + system;
    }
  }
  const ratios = times[1]!.map((time, block) => time / times[0]![block]!).sort();
  const byProcessor = medianOf(processor[1]!) / medianOf(processor[0]!);
  const nsOfProcessor = (1e3 * medianOf(processor[0]!)) / own.messages;
  const measured = tasks.map(({ messages, name }, i) => {
    const perSecond = (messages * 1_000) / medianOf(times[i]!);
    return { name: i === 0 ? name : `${name}, ${beside}`, perSecond };
  });
  const [now, before] = measured.map(({ perSecond }) => perSecond);
  process.stdout.write(
    `${own.name.padEnd(44)} ${(1e9 / now!).toFixed(0)} ns, ${beside} ${(1e9 / before!).toFixed(0)} ns: ` +
      `${(now! / before!).toFixed(2)} x, by processor time ${byProcessor.toFixed(2)} x, ` +
      `${nsOfProcessor.toFixed(0)} ns ` +
      `(by block ${ratios[0]!.toFixed(2)} to ` +
      `${ratios.at(-1)!.toFixed(2)}, median ${medianOf(ratios).toFixed(2)}; ${blocks} blocks)\n`,
  );
  return measured;
}

function medianOf(values: Float64Array): number {
  return values.slice().sort()[values.length >> 1]!;
}

export function printMachine(seed: string): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const cpu = cpus();
  process.stdout.write(
    `seed ${seed}, ${cpu.length} x ${cpu[0]?.model ?? 'unknown'}, node ${process.version}, commit ${commit}\n`,
  );
}
