/** `record info` and `record import`: recordings of venues as files. */
import { mergeRecordings } from '../../storage/recordings/merge.ts';
import { openRecording, type Recording } from '../../storage/recordings/recording.ts';
import { understoodEvents } from '../../storage/recordings/source-message.ts';
import { type Context, Refused, type Run } from './context.ts';

interface Summary {
  readonly venue: string;
  /** ISO 8601; of the first and the last entry. */
  readonly from: string;
  readonly to: string;
  readonly markets: number;
  /** Of these, without prints: their trades are inferred. */
  readonly marketsWithoutPrints: number;
  readonly entries: Readonly<Record<string, number>>;
  readonly messages: Readonly<Record<string, number>>;
  /** Of these, what a player and a backtest leave out, because it cannot be understood. */
  readonly messagesDamaged: number;
  readonly gaps: readonly { readonly from: string; readonly to: string }[];
  /** The recorder was ended in order; of the public form nobody knows. */
  readonly hasEnd: boolean | null;
  /** The file ends in a member that is not whole, at this byte. */
  readonly cutAt: number | null;
}

const NAME_WIDTH = 22;

export const info: Run = async ({ stdout }, [file = ''], options) => {
  const summary = await summaryOf(await openRecording(file));
  if (options.json === true) stdout.write(`${JSON.stringify(summary)}\n`);
  else showSummary(stdout, summary);
  return summary.cutAt === null ? 'done' : 'differs';
};

export const importing: Run = async ({ stdout }, files, options) => {
  if (typeof options.out !== 'string') throw new Refused('where to? -o FILE');
  const sources: Recording[] = [];
  for (const file of files) sources.push(await openRecording(file));
  const count = await mergeRecordings(sources, options.out);
  stdout.write(`${options.out}: ${count} messages of ${sources.length} files\n`);
  return 'done';
};

async function summaryOf(recording: Recording): Promise<Summary> {
  const { header } = recording;
  const entries: Record<string, number> = {};
  const messages: Record<string, number> = {};
  const gaps: { from: string; to: string }[] = [];
  let messagesDamaged = 0;
  let to = header.started;
  for await (const batch of recording.batches()) {
    for (const entry of batch) {
      to = entry.at;
      entries[entry.kind] = (entries[entry.kind] ?? 0) + 1;
      if (entry.kind === 'gap') gaps.push({ from: timeText(entry.from), to: timeText(entry.to) });
      if (entry.kind !== 'message') continue;
      const type = String(entry.message.event_type);
      messages[type] = (messages[type] ?? 0) + 1;
      understoodEvents(entry.message, () => {
        messagesDamaged += 1;
      });
    }
  }
  return {
    venue: header.venue,
    from: timeText(header.started),
    to: timeText(to),
    markets: recording.catalog.events.reduce((sum, { markets }) => sum + lengthOf(markets), 0),
    marketsWithoutPrints: header.inferred.length,
    entries,
    messages,
    messagesDamaged,
    gaps,
    hasEnd: recording.isPublic ? null : entries.end !== undefined,
    cutAt: recording.cutAt ?? null,
  };
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function showSummary(stdout: Context['stdout'], summary: Summary): void {
  const show = (name: string, text: string | number): void => {
    stdout.write(`${name.padEnd(NAME_WIDTH)} ${text}\n`);
  };
  show('venue', summary.venue);
  show('from', summary.from);
  show('to', summary.to);
  show('markets', summary.markets);
  show('trades are inferred of', `${summary.marketsWithoutPrints} of them`);
  for (const [type, count] of Object.entries(summary.messages)) show(type, count);
  show('damaged messages', summary.messagesDamaged);
  show('catalog changes', summary.entries.catalog ?? 0);
  show('gaps', summary.gaps.length);
  for (const { from, to } of summary.gaps) show('', `${from} to ${to}`);
  if (summary.cutAt !== null)
    show('cut', `it ends in a member that is not whole, at byte ${summary.cutAt}`);
  else if (summary.hasEnd === false)
    show('end', 'the recorder was not ended in order, or still runs');
}
