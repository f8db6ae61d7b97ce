/** `catalog`: the commands of server/catalog as commands of this program. */

import {
  type CatalogCommandContext,
  exportFile,
  importFile,
  pullFrom,
} from '../catalog/catalog-command.ts';
import { catalogFileSchema } from '../catalog/file-schema.ts';
import { sourceUrlProblem } from '../common/source-url.ts';
import { DEMO_CONDITIONS } from '../demo/demo-catalog.ts';
import { type Context, Refused, type Run } from './context.ts';
import { configOf } from './settings.ts';

export function catalogContext(context: Context): CatalogCommandContext {
  const { capacities } = configOf(context);
  return { ...context, capacities, ownConditions: DEMO_CONDITIONS };
}

function fileOf([file = '']: readonly string[]): string {
  if (file === '') throw new Refused('which FILE?');
  return file;
}

export const importing: Run = async (context, args, options) => {
  const importOptions = {
    isDryRun: options.dryRun === true,
    isForced: options.force === true,
    isStrict: options.strict === true,
    merges: options.merge === true,
    skipsChanged: options.skipChanged === true,
  };
  const isDone = await importFile(fileOf(args), importOptions, catalogContext(context));
  return isDone ? 'done' : 'failed';
};

export const exporting: Run = async (context, args) =>
  (await exportFile(fileOf(args), catalogContext(context))) ? 'done' : 'failed';

export const syncing: Run = async (context, [url = ''], options) => {
  const problem = sourceUrlProblem(url);
  if (problem !== undefined) throw new Refused(`URL ${problem}`);
  const isDone = await pullFrom(url, options.force === true, catalogContext(context));
  return isDone ? 'done' : 'failed';
};

export const schema: Run = async ({ stdout }) => {
  stdout.json(catalogFileSchema(), 2);
  return 'done';
};
