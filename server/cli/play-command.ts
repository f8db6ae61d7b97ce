/** `play`: a node whose market time is that of a recording, in this process, on a directory of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RecordingDamaged } from '../../storage/recordings/entries.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { DEMO_CONDITIONS } from '../app/demo-catalog.ts';
import { importFile } from '../catalog/catalog-command.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { configOf, textOf, timeOf } from './settings.ts';
import { start } from './start-command.ts';

/** By the option that stands in their place. */
const TIMES = { from: 'PLAY_FROM', to: 'PLAY_TO' } as const;

/** Never resolves: the node ends the process. */
export const play: Run = async (context, [file = ''], options) => {
  if (file === '') throw new Refused('which FILE?');
  // What a play leaves is worth nothing, and the next one begins from nothing.
  const dataDir = mkdtempSync(join(tmpdir(), 'play-'));
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const { env } = process;
  Object.assign(env, {
    PLAY: resolve(file),
    PLAY_SPEED: textOf(options, 'speed') ?? env.PLAY_SPEED ?? '1',
    LEDGER: 'on',
    FAUCET: env.FAUCET ?? '1000',
    RATE_LIMITS: 'off',
    DURABILITY: env.DURABILITY ?? 'committed',
    ...timesOf(options),
  });
  const own: Context = { ...context, dataDir, env };
  // What is wrong with a setting is said before anything is read.
  configOf(own);
  if (!(await importCatalog(file, own))) return 'failed';
  return start(own, [], { ...options, demo: false });
};

function timesOf(options: Options): Readonly<Record<string, string>> {
  const given = Object.entries(TIMES).flatMap(([option, variable]) => {
    const text = textOf(options, option);
    return text === undefined ? [] : [[variable, String(timeOf(text, `--${option}`))]];
  });
  return Object.fromEntries(given);
}

/** The catalog of the recording becomes that of the node. */
async function importCatalog(file: string, context: Context): Promise<boolean> {
  const { catalog } = await openRecording(file).catch((error: Error) => {
    const isKnown = error instanceof RecordingDamaged || 'code' in error;
    throw isKnown ? new Refused(error.message, 'failed') : error;
  });
  const path = join(context.dataDir, 'recording-catalog.json');
  writeFileSync(path, JSON.stringify(catalog));
  const { capacities } = configOf(context);
  const own = { ...context, capacities, ownConditions: DEMO_CONDITIONS };
  return importFile(path, {}, own);
}
