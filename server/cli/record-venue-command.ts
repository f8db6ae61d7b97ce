/** `record`: records a venue until it is interrupted. */

import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { CHOICE_RULE, parseChoice } from '../common/market-choice.ts';
import { sourceUrlProblem } from '../common/source-url.ts';
import { chosenMarkets } from '../paper/chosen-markets.ts';
import { Recorder } from '../paper/recorder.ts';
import { SourceApi, streamOf } from '../paper/source-api.ts';
import { Refused, type Run } from './context.ts';
import { MessageProgress, sizeText } from './message-progress.ts';
import { textOf } from './settings.ts';

const MARKETS = 'top:20';
/** Many venues have catalog and trading at different addresses. */
const ELSEWHERE = 'where the catalog is at another address, --catalog URL says so';
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export const record: Run = async (context, [url = '', file = ''], options) => {
  const { progress, signal, stderr, stdout } = context;
  const problem = sourceUrlProblem(url);
  if (problem !== undefined) throw new Refused(`URL ${problem}`);
  const choice = parseChoice(textOf(options, 'markets') ?? MARKETS);
  if (choice === undefined) throw new Refused(`--markets must be ${CHOICE_RULE}`);
  // What is under way when it is interrupted is written.
  const requests = new AbortController();
  const api = new SourceApi(url, textOf(options, 'catalog') ?? url, requests.signal);
  const { named, notBinary, top } = await chosenMarkets(api, choice).catch((error: Error) => {
    const isElsewhere = options.catalog === undefined && /: status 40[45]$/.test(error.message);
    throw isElsewhere ? new Error(`${error.message}; ${ELSEWHERE}`) : error;
  });
  const markets = [...new Map([...named, ...top].map((each) => [each.condition, each])).values()];
  if (markets.length === 0) throw new Error(`${url} has no open market of ${choice.text}`);
  const writer = await RecordingWriter.create(file, {
    venue: url,
    started: Date.now(),
    markets: choice.text.split(','),
  });
  stderr.line(`${markets.length} markets of ${url} are recorded in ${file}; Ctrl+C ends it`);
  if (notBinary.length > 0)
    stderr.line(`left out, because they do not have two outcomes: ${notBinary.length}`);
  const interrupt = new AbortController();
  const interrupted = (): void => interrupt.abort();
  for (const name of SIGNALS) process.once(name, interrupted);
  const recorder = new Recorder({
    api,
    markets,
    writer,
    signal: AbortSignal.any([signal, interrupt.signal]),
    streamUrl: textOf(options, 'stream') ?? streamOf(url),
    now: Date.now,
    log(line) {
      progress.clear();
      stderr.line(line);
    },
    onProgress: () => shown.show(recorder.messages, writer.bytes),
  });
  const shown = new MessageProgress(progress, 'recorded');
  try {
    await recorder.run();
  } finally {
    requests.abort();
    for (const name of SIGNALS) process.off(name, interrupted);
  }
  progress.clear();
  const size = sizeText(writer.bytes);
  stdout.line(`${file}: ${recorder.messages} messages, ${recorder.gaps} gaps, ${size}`);
  return 'done';
};
