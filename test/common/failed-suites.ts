/** A reporter for `--test-reporter` that writes the path of each suite that failed, a line each. */
import { resolve } from 'node:path';
import type { TestEvent } from './reporter.ts';

export default async function* failedSuites(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const failed = new Set<string>();
  for await (const { data, type } of source) {
    if (type !== 'test:complete' || data.details?.error === undefined) continue;
    const suite = resolve(data.file ?? '');
    if (failed.has(suite)) continue;
    failed.add(suite);
    yield `${suite}\n`;
  }
}
