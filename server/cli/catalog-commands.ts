/** `catalog`: the commands of server/catalog as commands of this program. */
import {
  type CatalogCommandContext,
  exportFile,
  importFile,
  pullFrom,
} from '../catalog/catalog-command.ts';
import { sourceUrlProblem } from '../common/source-url.ts';
import { Refused, type Run } from './context.ts';

const onFile =
  (command: (file: string, context: CatalogCommandContext) => Promise<boolean>): Run =>
  async (context, [file = '']) => {
    if (file === '') throw new Refused('which FILE?');
    return (await command(file, context)) ? 'done' : 'failed';
  };

export const importing = onFile(importFile);
export const exporting = onFile(exportFile);
export const syncing: Run = async (context, [url = '']) => {
  const problem = sourceUrlProblem(url);
  if (problem !== undefined) throw new Refused(`URL ${problem}`);
  return (await pullFrom(url, context)) ? 'done' : 'failed';
};
