/** Operations on the whole catalog: an import as the command makes it, and its report before it. Thread: I/O. */

import { createHash } from 'node:crypto';
import type { MarketEdits } from '../catalog/edits/market-edits.ts';
import { type Static, Type } from '../common/schema.ts';
import { flag, text, whole } from '../routes/shorthand.ts';
import { type OperationRow, operation } from './operation-row.ts';
import { inputOf } from './operation-schemas.ts';

/** Some ten thousand markets. */
const FILE_BYTES_MAX = 8 * 2 ** 20;

const ImportInput = inputOf({
  merge: Type.Optional(flag('true: adds and replaces objects by id, and leaves the rest')),
  force: Type.Optional(flag('true: open markets that the file lacks may go')),
  strict: Type.Optional(flag('true: a file with objects that would be left out is refused')),
  skipChanged: Type.Optional(flag('true: markets that contradict what is registered are left out')),
});
const ImportAnswer = Type.Object({
  done: flag('false: it is refused, and nothing is written'),
  report: Type.Array(text(), { description: 'lines of the command `catalog import`' }),
  problems: Type.Array(text(), { description: 'its warnings, and why it is refused' }),
  generation: Type.Union([whole(), Type.Null()], {
    description: 'of the catalog that is served now; null: nothing was written',
  }),
});

const row = {
  input: ImportInput,
  answer: ImportAnswer,
  bodyBytes: FILE_BYTES_MAX,
  file: true,
} as const satisfies Partial<OperationRow>;

type Imports = Pick<MarketEdits, 'importFile'>;

export const CATALOG_OPERATIONS = [
  operation(
    'POST /admin/catalog/dry-run',
    {
      ...row,
      does: 'says what an import of a catalog file would do; changes nothing',
      reads: true,
    },
    (imports: Imports) =>
      (input, { file }) =>
        imported(imports, input, file, true),
  ),
  operation(
    'POST /admin/catalog/import',
    { ...row, does: 'imports a catalog file, which is the body, as `catalog import` does' },
    (imports: Imports) =>
      (input, { file }) =>
        imported(imports, input, file, false),
  ),
];

async function imported(
  imports: Imports,
  { force, merge, skipChanged, strict }: Static<typeof ImportInput>,
  file: Uint8Array,
  isDryRun: boolean,
): Promise<Static<typeof ImportAnswer>> {
  const { done, generation, problems, report } = await imports.importFile(file, {
    isDryRun,
    isForced: force === true,
    isStrict: strict === true,
    merges: merge === true,
    skipsChanged: skipChanged === true,
  });
  const lists = { report: [...report], problems: [...problems] };
  return { done, ...lists, generation: generation === 0 ? null : generation };
}

/** Summary of a file for the audit log. */
export function auditedFile(file: Uint8Array): object {
  return { bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') };
}
