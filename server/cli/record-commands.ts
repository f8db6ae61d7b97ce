/** `record info`, `record import` and `record convert`: recordings of venues as files. */
import { existsSync, readFileSync } from 'node:fs';
import { convertRecording, FORMS, formOf } from '../../storage/recordings/convert.ts';
import { RecordingDamaged } from '../../storage/recordings/entries.ts';
import { mergeRecordings } from '../../storage/recordings/merge.ts';
import { messageSchema } from '../../storage/recordings/message-schema.ts';
import { cutText, openRecording, type Recording } from '../../storage/recordings/recording.ts';
import { type Mapping, readMapping } from '../../storage/recordings/row-columns.ts';
import { understoodEvents } from '../../storage/recordings/source-message.ts';
import { decreasesText } from '../../storage/recordings/times.ts';
import { recordedMarkets } from '../backtest/recorded-markets.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { MessageProgress, sizeText } from './message-progress.ts';
import { textOf } from './settings.ts';

interface Summary {
  readonly venue: string;
  /** ISO 8601 times of the first and the last entry. */
  readonly from: string;
  readonly to: string;
  readonly markets: number;
  readonly marketsWithoutPrints: number;
  /** Markets without a book: orders there meet nobody. */
  readonly marketsWithoutBooks: number;
  /** Further markets without two outcomes, which nobody trades. */
  readonly marketsLeftOut: number;
  readonly entries: Readonly<Record<string, number>>;
  readonly messages: Readonly<Record<string, number>>;
  readonly messagesDamaged: number;
  readonly timesDecreasing: number;
  readonly longestDecreaseMs: number;
  readonly gaps: readonly { readonly from: string; readonly to: string }[];
  /** True after an orderly end; `null` in the public form, which has no end entry. */
  readonly hasEnd: boolean | null;
  /** Byte at which the file ends in an incomplete member. */
  readonly cutAt: number | null;
  /** Number of an incomplete last line in the public form. */
  readonly cutLine: number | null;
}

const NAME_WIDTH = 22;
const NAMES_SHOWN = 5;

export const info: Run = async ({ progress, stdout }, [file = ''], options) => {
  const shown = new MessageProgress(progress, `reading ${file}`);
  const recording = await openRecording(file, (messages, bytes) => shown.show(messages, bytes));
  const summary = await summaryOf(recording);
  progress.clear();
  if (options.json === true) stdout.json(summary);
  else showSummary(stdout, summary);
  return cutOf(summary) === undefined ? 'done' : 'differs';
};

export const schema: Run = async ({ stdout }) => {
  stdout.json(messageSchema(), 2);
  return 'done';
};

export const importing: Run = async ({ progress, stderr, stdout }, files, options) => {
  if (typeof options.out !== 'string') throw new Refused('where to? -o FILE');
  if (existsSync(options.out)) throw new Refused(`${options.out} is there`);
  const mapping = mappingOf(options);
  const sources: Recording[] = [];
  for (const file of files) sources.push(await opened(file, progress, mapping));
  const shown = new MessageProgress(progress, `writing ${options.out}`);
  const { damaged, leftOut, messages, withoutLevels } = await mergeRecordings(
    sources,
    options.out,
    (count, bytes) => shown.show(count, bytes),
  );
  progress.clear();
  for (const source of sources) {
    for (const text of [decreasesText(source.decreases), cutText(source)])
      if (text !== undefined) stderr.line(`${source.path}: ${text}`);
  }
  for (const [names, why] of [
    [leftOut, 'more than two tokens, and are left out by whoever reads it'],
    [withoutLevels, 'no books: orders there meet nobody'],
  ] as const) {
    const more = names.length > NAMES_SHOWN ? ', ...' : '';
    const shown = names.slice(0, NAMES_SHOWN).join(', ');
    if (names.length > 0)
      stderr.line(`${options.out}: ${names.length} markets have ${why}: ${shown}${more}`);
  }
  if (damaged > 0) stderr.line(`${options.out}: damaged messages: ${damaged}`);
  stdout.line(`${options.out}: ${messages} messages of ${sources.length} files`);
  return 'done';
};

export const converting: Run = async (context, [file = '', out = ''], options) => {
  const { progress, stderr, stdout } = context;
  const form = formOf(out);
  if (form === undefined) {
    const ends = Object.values(FORMS).flatMap(({ ends: each }) => each);
    throw new Refused(`OUT must end in one of ${ends.join(', ')}, not "${out}"`);
  }
  if (existsSync(out)) throw new Refused(`${out} is there`);
  const token = textOf(options, 'token');
  if (token !== undefined && form !== FORMS.npz) throw new Refused('--token is for an OUT.npz');
  const recording = await opened(file, progress, mappingOf(options));
  const shown = new MessageProgress(progress, `writing ${out}`);
  const { bytes, leftOut, messages, raised } = await convertRecording(recording, form, out, {
    token,
    onProgress: (count, written) => shown.show(count, written),
  });
  progress.clear();
  const decreases = decreasesText(recording.decreases);
  if (decreases !== undefined) stderr.line(`${file}: ${decreases}`);
  const cut = cutText(recording);
  if (cut !== undefined) stderr.line(`${file}: ${cut}`);
  if (leftOut > 0) stderr.line(`${out}: messages left out: ${leftOut}`);
  if (raised > 0) stderr.line(`${out}: messages with a time that was raised: ${raised}`);
  if (form.lacks !== undefined) stderr.line(`${out}: its form has no place for ${form.lacks}`);
  stdout.line(`${out}: ${messages} messages, ${sizeText(bytes)}`);
  return 'done';
};

async function opened(
  file: string,
  progress: Context['progress'],
  mapping: Mapping | undefined,
): Promise<Recording> {
  const shown = new MessageProgress(progress, `reading ${file}`);
  return openRecording(file, (messages, bytes) => shown.show(messages, bytes), mapping);
}

function mappingOf(options: Options): Mapping | undefined {
  const file = textOf(options, 'mapping');
  if (file === undefined) return undefined;
  try {
    return readMapping(readFileSync(file, 'utf8'), file);
  } catch (error) {
    throw error instanceof RecordingDamaged ? new Refused(error.message) : error;
  }
}

async function summaryOf(recording: Recording): Promise<Summary> {
  const { header } = recording;
  const entries: Record<string, number> = {};
  const messages: Record<string, number> = {};
  const gaps: { from: string; to: string }[] = [];
  const markets = recording.catalog.events.flatMap(recordedMarkets);
  /** First tokens of markets without a book. The book of the other outcome is not read. */
  const bookless = new Set(markets.map(({ tokens }) => tokens[0]));
  let messagesDamaged = 0;
  let to = header.started;
  for await (const batch of recording.batches()) {
    for (const entry of batch) {
      to = entry.at;
      entries[entry.kind] = (entries[entry.kind] ?? 0) + 1;
      if (entry.kind === 'gap') gaps.push({ from: timeText(entry.from), to: timeText(entry.to) });
      if (entry.kind === 'damaged') messagesDamaged += 1;
      if (entry.kind !== 'message') continue;
      const type = String(entry.message.event_type);
      messages[type] = (messages[type] ?? 0) + 1;
      const events = understoodEvents(entry.message, () => {
        messagesDamaged += 1;
      });
      for (const event of events) if (event.kind === 'book') bookless.delete(event.token);
    }
  }
  return {
    venue: header.venue,
    from: timeText(header.started),
    to: timeText(to),
    markets: markets.length,
    marketsWithoutPrints: header.inferred.length,
    marketsWithoutBooks: bookless.size,
    marketsLeftOut: recording.leftOut,
    entries,
    messages,
    messagesDamaged,
    timesDecreasing: recording.decreases.count,
    longestDecreaseMs: recording.decreases.longestMs,
    gaps,
    hasEnd: recording.isPublic ? null : entries.end !== undefined,
    cutAt: recording.cutAt ?? null,
    cutLine: recording.cutLine ?? null,
  };
}

function cutOf({ cutAt, cutLine }: Summary): string | undefined {
  return cutText({ cutAt: cutAt ?? undefined, cutLine: cutLine ?? undefined });
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function showSummary(stdout: Context['stdout'], summary: Summary): void {
  const show = (name: string, text: string | number): void => {
    stdout.line(`${name.padEnd(NAME_WIDTH)} ${text}`);
  };
  show('venue', summary.venue);
  show('from', summary.from);
  show('to', summary.to);
  show('markets', summary.markets);
  show('trades are inferred of', `${summary.marketsWithoutPrints} of them`);
  if (summary.marketsWithoutBooks > 0)
    show('without books', `${summary.marketsWithoutBooks} of them: orders there meet nobody`);
  if (summary.marketsLeftOut > 0)
    show('left out', `${summary.marketsLeftOut}, because they do not have two outcomes`);
  for (const [type, count] of Object.entries(summary.messages)) show(type, count);
  show('damaged messages', summary.messagesDamaged);
  const back = `, by up to ${summary.longestDecreaseMs} ms`;
  show('earlier times', `${summary.timesDecreasing}${summary.timesDecreasing > 0 ? back : ''}`);
  show('catalog changes', summary.entries.catalog ?? 0);
  show('gaps', summary.gaps.length);
  for (const { from, to } of summary.gaps) show('', `${from} to ${to}`);
  const cut = cutOf(summary);
  if (cut !== undefined) show('cut', cut);
  else if (summary.hasEnd === false)
    show('end', 'the recorder was not ended in order, or still runs');
}
