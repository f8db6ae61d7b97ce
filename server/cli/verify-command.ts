/** `verify`: checks each part of DATA_DIR, with a line for each. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { verify } from '../../storage/operations/verify.ts';
import { openNodeKey } from '../identity/credentials.ts';
import type { Run } from './context.ts';
import { configOf } from './settings.ts';

const PART_WIDTH = 12;

export const verifyAll: Run = async (context) => {
  const { dataDir, paint, progress, stdout } = context;
  const { capacities } = configOf(context);
  let isSound = true;
  const report = (part: string, ok: boolean, text: string): void => {
    isSound &&= ok;
    progress.clear();
    const word = ok ? paint.green('ok     ') : paint.red('damaged');
    stdout.write(`${word} ${part.padEnd(PART_WIDTH)} ${text}\n`);
  };
  const findings = verify({ dataDir, capacities, onProgress: progress.show });
  for await (const { ok, part, text } of findings) report(part, ok, text);
  // Opening a missing key file would create it.
  if (existsSync(join(dataDir, 'node.key'))) {
    const key = openNodeKey(dataDir);
    report('node.key', key.ok, key.ok ? 'it can be read, by its owner only' : key.problem);
  }
  return isSound ? 'done' : 'differs';
};
