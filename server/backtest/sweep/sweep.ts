/**
 * Runs the jobs of a sweep on the threads of a pool. Rows of an earlier start of the same sweep are not run again.
 *
 * Thread: the caller's.
 */
import { openThreadPool, ownFile, type ThreadPool } from '../../common/thread-pool.ts';
import { valuesText } from '../parameters.ts';
import { typeScriptLoaders } from '../strategy-file.ts';
import { originText } from '../strategy-run.ts';
import type { SweepJob, SweepOutcome, SweepRow, SweepTask } from './job.ts';
import type { ResultsFile } from './results-file.ts';

/** Error of a job; `kind` says whether its input is wrong, `detail` is for people. */
export class SweepFailed extends Error {
  readonly kind: 'usage' | 'failed';
  readonly detail: string;

  constructor(message: string, { detail, kind }: Exclude<SweepOutcome, { kind: 'done' }>) {
    super(message);
    this.kind = kind;
    this.detail = detail;
  }
}

export class Sweep {
  private readonly pool: ThreadPool<SweepTask, SweepOutcome>;
  private readonly results: ResultsFile | undefined;
  private readonly onRun: (done: number, total: number) => void;
  private done = 0;
  private total = 0;

  constructor(
    threads: number,
    results: ResultsFile | undefined,
    onRun: (done: number, total: number) => void,
  ) {
    this.results = results;
    this.onRun = onRun;
    this.pool = openThreadPool(ownFile('./sweep-thread', import.meta.url), threads, {
      atomics: 'disabled',
      report: () => undefined,
    });
  }

  /** Resolves with a row for each job, in their order. Rejects with the first SweepFailed; rows until then stay. */
  async run(jobs: readonly SweepJob[]): Promise<SweepRow[]> {
    this.total += jobs.length;
    return await Promise.all(jobs.map((job) => this.rowOf(job)));
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.pool.close();
  }

  private async rowOf(job: SweepJob): Promise<SweepRow> {
    const known = this.results?.rowOf(job);
    const row = known ?? (await this.ran(job));
    this.done += 1;
    this.onRun(this.done, this.total);
    return row;
  }

  private async ran(job: SweepJob): Promise<SweepRow> {
    const { origin, recording, values } = job;
    const loaders = 'file' in origin ? typeScriptLoaders(origin.file) : [];
    const outcome = await this.pool.run({ job, loaders });
    if (outcome.kind !== 'done') {
      const where = `${originText(origin)}: ${valuesText(values)} over ${recording}`;
      throw new SweepFailed(`${where}: ${outcome.message}`, outcome);
    }
    this.results?.add(outcome.row);
    return outcome.row;
  }
}
