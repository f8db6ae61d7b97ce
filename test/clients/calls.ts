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

/** Least number of calls that a line names by the title of an earlier package. */
const SHARED_CALLS_MIN = 10;

/** Outcomes as Markdown: served calls, and a line for each reason why others are not. */
export function tables(outcomes: readonly Outcome[]): string {
  return outcomes
    .map((outcome, i) => {
      const { rows, served, title } = outcome;
      const reasons = new Map<string, string[]>();
      for (const [call, result] of rows) {
        if (result !== 'ok') reasons.set(result, [...(reasons.get(result) ?? []), `\`${call}\``]);
      }
      const lines = [...reasons].map(([reason, calls]) => `- ${reason}: ${calls.join(', ')}`);
      const heading = `### ${title}: ${served} of ${rows.length}`;
      const others = lines.length === 0 ? [] : ['', ...lines];
      return [heading, '', `ok: ${servedText(outcome, outcomes.slice(0, i))}`, ...others].join(
        '\n',
      );
    })
    .join('\n\n');
}

function servedText(outcome: Outcome, earlier: readonly Outcome[]): string {
  const calls = servedCalls(outcome);
  const shared = earlier.findLast((other) => {
    const theirs = servedCalls(other);
    return theirs.length >= SHARED_CALLS_MIN && theirs.every((call) => calls.includes(call));
  });
  const known = new Set(shared === undefined ? [] : servedCalls(shared));
  const bySignature = new Map<string, string[]>();
  for (const call of calls.filter((name) => !known.has(name))) {
    const [name = '', type] = call.split('; signature type ');
    bySignature.set(name, [
      ...(bySignature.get(name) ?? []),
      ...(type === undefined ? [] : [type]),
    ]);
  }
  const texts = [...bySignature].map(([name, types]) =>
    types.length === 0 ? `\`${name}\`` : `\`${name}\` (${types.join(', ')})`,
  );
  const first = shared === undefined ? [] : [`those of ${shared.title}`];
  return [...first, ...texts].join(', ');
}

function servedCalls({ rows }: Outcome): string[] {
  return rows.flatMap(([call, result]) => (result === 'ok' ? [call] : []));
}
