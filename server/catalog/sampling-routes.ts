/**
 * GET /sampling-markets and GET /sampling-simplified-markets of the trading API: every open market,
 * in ascending order of id, in pages by cursor. Rules: docs/protocol.md#sampling-lists
 *
 * A cursor is an offset: it is valid while one generation is served. Unknown parameters are
 * ignored, as in the rest of the catalog.
 *
 * Thread: the I/O thread.
 */

import { cursorOf, INVALID_CURSOR, LAST_CURSOR, offsetOf } from '../common/cursor.ts';
import { type AnswerWriter, BYTES_PER_STEP, type Steps } from './answer-writer.ts';
import type { CatalogAnswers, CatalogRoute } from './catalog-answers.ts';
import { PARAMETERS } from './parameters.ts';
import type { PreparedCatalog } from './prepared.ts';

/** docs/protocol.md#sampling-lists. */
const PAGE_SIZE = 1000;

const DATA = Buffer.from('{"data":[');
const COMMA = Buffer.from(',');
const END = Buffer.from('}');
const EVENT = Buffer.from(',"event":');
const METADATA = Buffer.from(',"raw_metadata":');

export function samplingRoutes({ writer }: CatalogAnswers): CatalogRoute[] {
  const forms = {
    '/sampling-markets': renderFull,
    '/sampling-simplified-markets': renderSimplified,
  };
  return Object.entries(forms).map(([path, render]) => ({
    path,
    parameters: PARAMETERS.sampling,
    shown: 'texts',
    answer: ({ context, query, served }) => {
      const offset = offsetOf(query.cursor);
      if (offset === -1) return context.reply(400, INVALID_CURSOR);
      const { prepared } = served.generation;
      return () => {
        const steps = renderPage(writer.begin(prepared.bytes), prepared, offset, render);
        return writer.run(steps, () => context.aborted);
      };
    },
  }));
}

function* renderPage(
  writer: AnswerWriter,
  catalog: PreparedCatalog,
  offset: number,
  render: (writer: AnswerWriter, catalog: PreparedCatalog, place: number) => void,
): Steps {
  const total = catalog.sampling.markets.length;
  const end = Math.min(offset + PAGE_SIZE, total);
  writer.bytes(DATA);
  for (let place = offset; place < end; place++) {
    if (place > offset) writer.bytes(COMMA);
    render(writer, catalog, place);
    writer.bytes(END);
    if (writer.length >= BYTES_PER_STEP) yield;
  }
  const next = end < total ? cursorOf(end) : LAST_CURSOR;
  writer.ascii(`],"next_cursor":"${next}"}`);
}

function renderSimplified(
  writer: AnswerWriter,
  { sampling }: PreparedCatalog,
  place: number,
): void {
  writer.fragment(sampling.start[place]!, sampling.end[place]!);
}

function renderFull(writer: AnswerWriter, catalog: PreparedCatalog, place: number): void {
  const { sampling, markets, events } = catalog;
  const market = sampling.markets[place]!;
  const event = markets.event[market]!;
  writer
    .fragment(sampling.start[place]!, sampling.split[place]!)
    // The member `description` of the market's own fragment.
    .fragment(markets.cuts.icon![market]!, markets.cuts.description![market]!)
    .fragment(sampling.split[place]!, sampling.end[place]!)
    .bytes(EVENT)
    .fragment(events.sampling.start[event]!, events.sampling.end[event]!)
    .bytes(METADATA)
    .fragment(sampling.metadata.start[place]!, sampling.metadata.end[place]!);
}
