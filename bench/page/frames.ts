/**
 * Work of a page's main thread for each frame, by the browser's own trace: scripts, styles, layout and paint. The work of a
 * frame is that of the tasks that begin after the frame before it. Non-goals: other threads of the browser, and its screen.
 */
import type { Page } from './chromium.ts';

export interface FrameWork {
  /** Milliseconds of the processor, so that other processes of a busy machine count little. */
  readonly processor: number;
  /** Milliseconds from the begin of each task to its end. */
  readonly elapsed: number;
  /** Elements whose style was resolved. */
  readonly styled: number;
  /** Boxes and texts in the parts of the page that were laid out. */
  readonly laidOut: number;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts: number;
  readonly dur?: number;
  /** Microseconds of the processor. */
  readonly tdur?: number;
  readonly args?: {
    readonly elementCount?: number;
    readonly beginData?: { readonly totalObjects?: number };
  };
}

const TASK = 'RunTask';
const RESOLVED = 'UpdateLayoutTree';
const LAID_OUT = 'Layout';
const NAMES: ReadonlySet<string> = new Set([TASK, RESOLVED, LAID_OUT]);

const US = 1_000;
const CATEGORIES = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
];
/** Frames are made only where something asks for them. */
const ASK_FOR_FRAMES = '{ const next = () => requestAnimationFrame(next); next(); }';

export async function askForFrames(page: Page): Promise<void> {
  await page.evaluate(ASK_FOR_FRAMES);
}

/** Work for each frame while something runs; the page has to ask for frames. */
export async function framesOf(page: Page, run: () => Promise<unknown>): Promise<FrameWork[]> {
  await page.tracing.start({ categories: CATEGORIES });
  await run();
  const text = await page.tracing.stop();
  const { traceEvents } = JSON.parse(new TextDecoder().decode(text)) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const frames = traceEvents
    .filter(({ name }) => name === 'BeginMainThreadFrame')
    .sort((a, b) => a.ts - b.ts);
  const { pid, tid } = frames[0] ?? { pid: 0, tid: 0 };
  const work = frames.map(() => ({ processor: 0, elapsed: 0, styled: 0, laidOut: 0 }));
  let frame = -1;
  for (const { args, dur = 0, name, tdur = 0, ts } of traceEvents
    .filter((event) => NAMES.has(event.name) && event.pid === pid && event.tid === tid)
    .sort((a, b) => a.ts - b.ts)) {
    while (frame + 1 < frames.length && frames[frame + 1]!.ts < ts + dur) frame++;
    const own = work[frame];
    if (own === undefined) continue;
    if (name === RESOLVED) own.styled += args?.elementCount ?? 0;
    else if (name === LAID_OUT) own.laidOut += args?.beginData?.totalObjects ?? 0;
    else {
      own.processor += tdur / US;
      own.elapsed += dur / US;
    }
  }
  return work.slice(1, -1);
}
