/**
 * Calls of a package under test. Each is made once, in order, against one node. The results are a
 * table, and a call that differs from its row fails the run.
 */

export interface Call {
  readonly name: string;
  /** Makes the call and checks the answer; rejects where a user could not use it. */
  readonly run: () => Promise<unknown>;
  readonly cannot?: string;
}

export interface Outcome {
  readonly title: string;
  readonly rows: readonly (readonly [call: string, result: string])[];
  readonly served: number;
  /** Calls that differ from their rows. */
  readonly surprises: readonly string[];
}

const DETAIL_CHARACTERS = 300;
/** Longer than any condition is waited for, so that the result names the condition. */
const CALL_MS_MAX = 90_000;

export async function makeCalls(title: string, calls: readonly Call[]): Promise<Outcome> {
  const rows: (readonly [string, string])[] = [];
  const surprises: string[] = [];
  for (const { cannot, name, run } of calls) {
    const problem = await problemOf(run);
    if (problem !== undefined && cannot === undefined)
      surprises.push(`${title} ${name}: ${problem}`);
    if (problem === undefined && cannot !== undefined) surprises.push(`${title} ${name} is served`);
    rows.push([name, problem === undefined ? 'ok' : `no: ${cannot ?? problem}`]);
  }
  const served = rows.filter(([, result]) => result === 'ok').length;
  return { title, rows, served, surprises };
}

async function problemOf(run: () => Promise<unknown>): Promise<string | undefined> {
  let patience: NodeJS.Timeout | undefined;
  try {
    const late = new Promise((_, reject) => {
      patience = setTimeout(() => reject(new Error('no answer')), CALL_MS_MAX);
    });
    await Promise.race([run(), late]);
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : JSON.stringify(error);
    return text.replace(/\s+/g, ' ').slice(0, DETAIL_CHARACTERS);
  } finally {
    clearTimeout(patience);
  }
}

export function tables(outcomes: readonly Outcome[]): string {
  return outcomes
    .map(({ rows, served, title }) => {
      const ok = rows.flatMap(([call, result]) => (result === 'ok' ? [`\`${call}\``] : []));
      const others = rows.filter(([, result]) => result !== 'ok');
      const lines = others.map(([call, result]) => `| \`${call}\` | ${result} |`);
      const head = others.length === 0 ? [] : ['', '| call | result |', '| --- | --- |'];
      const heading = `### ${title}: ${served} of ${rows.length}`;
      return [heading, '', `ok: ${ok.join(', ')}`, ...head, ...lines].join('\n');
    })
    .join('\n\n');
}
