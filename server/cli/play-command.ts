/** `play`: a node with the market time of a recording, in this process, on a temporary directory. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RecordingDamaged } from '../../storage/recordings/entries.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { importFile } from '../catalog/catalog-command.ts';
import { catalogContext } from './catalog-commands.ts';
import { given } from './command.ts';
import { type Context, Refused, type Run } from './context.ts';
import { configOf, optionOf, textOf, timeOf } from './settings.ts';
import { start } from './start-command.ts';

const timeText = (text: string, flag: string): string => String(timeOf(text, flag));

export const play: Run = async (context, [file = ''], options) => {
  if (file === '') throw new Refused('which FILE?');
  // Each play begins with an empty directory, which is removed at its end.
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
    ...given({
      PLAY_FROM: optionOf(options, 'from', timeText),
      PLAY_TO: optionOf(options, 'to', timeText),
    }),
  });
  const own: Context = { ...context, dataDir, env };
  // Faults of the settings are reported before the recording is read.
  configOf(own);
  if (!(await importCatalog(file, own))) return 'failed';
  return start(own, [], { ...options, demo: false });
};

async function importCatalog(file: string, context: Context): Promise<boolean> {
  const { catalog } = await openRecording(file).catch((error: Error) => {
    const isKnown = error instanceof RecordingDamaged || 'code' in error;
    throw isKnown ? new Refused(error.message, 'failed') : error;
  });
  const path = join(context.dataDir, 'recording-catalog.json');
  writeFileSync(path, JSON.stringify(catalog));
  return importFile(path, {}, catalogContext(context));
}
