/** `npm run log -- cut SEQUENCE`: what to do about a damaged log without a copy (OPERATIONS.md). */

import { cutLog } from '../storage/cut-log.ts';
import { takeDirectoryLock } from '../storage/directory-lock.ts';
import { readConfig } from './config.ts';

async function main(): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const [command, text = ''] = process.argv.slice(2);
  if (command !== 'cut' || !/^[1-9]\d{0,15}$/.test(text)) {
    say('usage: npm run log -- cut SEQUENCE   gives up that batch and all after it');
    return 2;
  }
  const read = readConfig(process.env, [], 1);
  if (!read.ok) {
    read.problems.forEach(say);
    return 2;
  }
  const { dataDir } = read.config;
  const lock = takeDirectoryLock(dataDir);
  if (!lock.ok) {
    say(lock.detail);
    return 1;
  }
  try {
    for (const path of await cutLog(dataDir, Number(text))) say(`set aside: ${path}`);
    return 0;
  } catch (error) {
    say((error as Error).message);
    return 1;
  } finally {
    lock.release();
  }
}

process.exitCode = await main();
