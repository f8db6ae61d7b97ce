/** `record`: records a venue until it is interrupted. */

import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { CHOICE_RULE, parseChoice } from '../common/market-choice.ts';
import { sourceUrlProblem } from '../common/source-url.ts';
import { chosenMarkets } from '../paper/chosen-markets.ts';
import { Recorder } from '../paper/recorder.ts';
import { SourceApi, streamOf } from '../paper/source-api.ts';
import { Refused, type Run } from './context.ts';
import { textOf } from './settings.ts';

const MARKETS = 'top:20';
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export const record: Run = async ({ signal, stderr, stdout }, [url = '', file = ''], options) => {
  const problem = sourceUrlProblem(url);
  if (problem !== undefined) throw new Refused(`URL ${problem}`);
  const choice = parseChoice(textOf(options, 'markets') ?? MARKETS);
  if (choice === undefined) throw new Refused(`--markets must be ${CHOICE_RULE}`);
  // What is under way when it is interrupted is written.
  const requests = new AbortController();
  const api = new SourceApi(url, textOf(options, 'catalog') ?? url, requests.signal);
  const { named, top } = await chosenMarkets(api, choice);
  const markets = [...new Map([...named, ...top].map((each) => [each.condition, each])).values()];
  if (markets.length === 0) throw new Error(`${url} has no open market of ${choice.text}`);
  const writer = await RecordingWriter.create(file, {
    venue: url,
    started: Date.now(),
    markets: choice.text.split(','),
  });
  stderr.write(`${markets.length} markets of ${url} are recorded in ${file}; Ctrl+C ends it\n`);
  const interrupt = new AbortController();
  const interrupted = (): void => interrupt.abort();
  for (const name of SIGNALS) process.once(name, interrupted);
  const recorder = new Recorder({
    ...{ api, markets, writer },
    signal: AbortSignal.any([signal, interrupt.signal]),
    streamUrl: textOf(options, 'stream') ?? streamOf(url),
    now: Date.now,
    log: (line) => stderr.write(`${line}\n`),
  });
  try {
    await recorder.run();
  } finally {
    requests.abort();
    for (const name of SIGNALS) process.off(name, interrupted);
  }
  stdout.write(`${file}: ${recorder.messages} messages, ${recorder.gaps} gaps\n`);
  return 'done';
};
