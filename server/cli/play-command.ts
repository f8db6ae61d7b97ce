/** `play`: a node whose market time is that of a recording, in this process, on a directory of its own. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { importFile } from '../catalog/catalog-command.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { configOf, textOf, timeOf } from './settings.ts';
import { start } from './start-command.ts';

/** By the option that stands in their place. */
const TIMES = { from: 'PLAY_FROM', to: 'PLAY_TO' } as const;

/** Never resolves: the node ends the process. */
export const play: Run = async (context, [file = ''], options) => {
  if (file === '') throw new Refused('which FILE?');
  const path = resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new Refused(`${file} is no file`, 'failed');
  Object.assign(process.env, {
    PLAY: path,
    PLAY_SPEED: textOf(options, 'speed') ?? '1',
    LEDGER: 'on',
    FAUCET: process.env.FAUCET ?? '1000',
    RATE_LIMITS: 'off',
    ...timesOf(options),
  });
  // What a play leaves is worth nothing, and the next one begins from nothing.
  const dataDir = mkdtempSync(join(tmpdir(), 'play-'));
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const own: Context = { ...context, dataDir, env: process.env };
  await importCatalog(path, own);
  return start(own, [], { ...options, demo: false });
};
