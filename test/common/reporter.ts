/**
 * Output of a run of tests: a line for each suite that ends and each test that fails. At the end
 * come every failed test with the whole text of its error, the output of its suite, the slowest tests, the names
 * once more and the count. A suite that is killed or dies names its running tests.
 *
 * Given to Node as `--test-reporter`; works with the reports of Node 20, 22 and 24.
 */
import { basename, resolve } from 'node:path';
import { inspect } from 'node:util';

/** Fields of a reported event that are read. Events of a suite come in one piece, apart from its own end. */
export interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly file?: string;
    readonly line?: number;
    readonly nesting?: number;
    readonly message?: string;
    readonly details?: { readonly duration_ms?: number; readonly error?: TestError };
  };
}

interface TestError extends Error {
  readonly failureType?: string;
}

/** Failure of a parent of a failed test, which adds nothing. */
const SUBTESTS_FAILED = 'subtestsFailed';
const OUTPUT_LINES_MAX = 200;
/** Tests that take longer than this are listed, the slowest of them. */
const LONG_MS = 10_000;
const SLOWEST = 12;

class Report {
  private readonly failures: string[] = [];
  private readonly failedNames: string[] = [];
  private readonly counts: string[] = [];
  /** Tests that have begun, by name and place. */
  private readonly running = new Set<string>();
  /** Names of the tests around the reported one, by nesting. */
  private readonly names: string[] = [];
  private readonly output = new Map<string, string>();
  private readonly failedFiles = new Set<string>();
  private readonly lengths: { readonly ms: number; readonly text: string }[] = [];

  add({ type, data }: TestEvent): string {
    const { file = '', message = '', name = '', nesting = 0 } = data;
    if (type === 'test:stdout' || type === 'test:stderr') {
      const suite = resolve(file);
      this.output.set(suite, (this.output.get(suite) ?? '') + message);
    }
    // The totals come last, at the outermost level; diagnostics of tests have a file.
    if (type === 'test:diagnostic' && data.file === undefined) this.counts.push(message);
    if (type === 'test:start') this.names[nesting] = name;
    if (type === 'test:dequeue') this.running.add(placeOf(data));
    if (type === 'test:fail') return this.fail(data, nesting);
    if (type !== 'test:complete') return '';
    this.running.delete(placeOf(data));
    if (data.details?.error !== undefined) this.failedFiles.add(resolve(file));
    if (isSuite(data)) return suiteLine(data);
    const ms = data.details?.duration_ms ?? 0;
    if (nesting === 0 && ms > LONG_MS)
      this.lengths.push({ ms, text: `${seconds(ms)} ${placeOf(data)}` });
    return '';
  }

  private fail(data: TestEvent['data'], nesting: number): string {
    const error = data.details?.error;
    if (error?.failureType === SUBTESTS_FAILED) return '';
    const name = [...this.names.slice(0, nesting), data.name].join(' > ');
    const place = isSuite(data) ? '' : ` (${data.file}:${data.line})`;
    const running = isSuite(data)
      ? [...this.running].filter((other) => other !== placeOf(data))
      : [];
    const also = running.length === 0 ? [] : ['It was running:', ...running];
    this.failures.push([`FAILED ${name}${place}`, shown(error), ...also].join('\n'));
    const line = `failed: ${name}${place}`;
    this.failedNames.push(line);
    return `${line}\n`;
  }

  end(): string {
    const written = [...this.output].filter(([file]) => this.failedFiles.has(file));
    const outputs = written.map(([file, text]) => {
      const lines = text.trimEnd().split('\n').slice(-OUTPUT_LINES_MAX);
      return [`OUTPUT of ${basename(file)}`, ...lines].join('\n');
    });
    const counts = this.counts.map((line) => line.replace('duration_ms', 'ms')).join(', ');
    const slowest = this.lengths.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST);
    const last = [...slowest.map(({ text }) => text), ...this.failedNames, counts].join('\n');
    return ['', ...outputs, ...this.failures, last, ''].join('\n\n');
  }
}

/** Files of the command line are reported as tests of the same name. */
function isSuite({ file, name, nesting }: TestEvent['data']): boolean {
  return (
    nesting === 0 && file !== undefined && name !== undefined && resolve(name) === resolve(file)
  );
}

function placeOf({ file, line, name }: TestEvent['data']): string {
  return `${name} (${file}:${line})`;
}

function suiteLine({ details, file = '' }: TestEvent['data']): string {
  const end = details?.error === undefined ? '' : ', FAILED';
  return `${seconds(details?.duration_ms ?? 0)} ${basename(file)}${end}\n`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1).padStart(6)} s `;
}

function shown(error: TestError | undefined): string {
  const cause = error?.cause ?? error;
  return typeof cause === 'string' ? cause : inspect(cause, { depth: 8, maxStringLength: 1_000 });
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const made = new Report();
  for await (const event of source) yield made.add(event);
  yield made.end();
}
