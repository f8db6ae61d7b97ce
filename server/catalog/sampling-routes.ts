/**
 * GET /sampling-markets and GET /sampling-simplified-markets of the trading API: every open market,
 * in ascending order of id, in pages by cursor. Rules: docs/protocol.md#sampling-lists
 *
 * A cursor is an offset: it is valid while one generation is served. Unknown parameters are
 * ignored, as in the rest of the catalog.
 *
 * Thread: the I/O thread.
 */

import { INVALID_CURSOR, type OffsetPage, offsetPage } from '../common/cursor.ts';
import { Type } from '../common/schema.ts';
import { type RawHandler, rawRoute } from '../http/route.ts';
import type { CatalogAnswers } from './catalog-answers.ts';
import { BYTES_PER_STEP, type FragmentWriter, type Steps } from './fragment-writer.ts';
import { PARAMETERS } from './parameters.ts';
import type { PreparedCatalog } from './prepared.ts';
import { SamplingAnswer, SimplifiedSamplingAnswer } from './schemas.ts';
import { ShortTradingMarketsAnswer, TradingMarketsAnswer } from './trading-schemas.ts';

const PAGE_SIZE = 1000;

const DATA = Buffer.from('{"data":[');
const COMMA = Buffer.from(',');
const END = Buffer.from('}');
const EVENT = Buffer.from(',"event":');
const METADATA = Buffer.from(',"raw_metadata":');

export const SAMPLING_ROUTES = [
  rawRoute(
    'GET /sampling-markets',
    {
      tagged: true,
      query: PARAMETERS.sampling,
      answer: SamplingAnswer,
      group: 'trading markets',
      does: 'open markets by cursor: `next_cursor`, 1000 a page, `LTE=` at the end',
      configured: ({ marketRoutes }) =>
        marketRoutes === 'catalog'
          ? {}
          : { answer: Type.Union([SamplingAnswer, TradingMarketsAnswer]) },
    },
    (answers: CatalogAnswers) => sampling(answers, renderFull),
  ),
  rawRoute(
    'GET /sampling-simplified-markets',
    {
      tagged: true,
      query: PARAMETERS.sampling,
      answer: SimplifiedSamplingAnswer,
      group: 'trading markets',
      repeats: true,
      does: 'the same, in short',
      configured: ({ marketRoutes }) =>
        marketRoutes === 'catalog'
          ? {}
          : { answer: Type.Union([SimplifiedSamplingAnswer, ShortTradingMarketsAnswer]) },
    },
    (answers: CatalogAnswers) => sampling(answers, renderSimplified),
  ),
];

type Render = (writer: FragmentWriter, catalog: PreparedCatalog, place: number) => void;

function sampling(answers: CatalogAnswers, render: Render): RawHandler {
  const { writer } = answers;
  return answers.handler({
    parameters: PARAMETERS.sampling,
    shown: 'texts',
    answer: ({ context, query, served }) => {
      const { prepared } = served.generation;
      const page = offsetPage(query.cursor, prepared.sampling.markets.length, PAGE_SIZE);
      if (page === undefined) return context.reply(400, INVALID_CURSOR);
      return () => renderPage(writer.begin(prepared.bytes), prepared, page, render);
    },
  });
}

function* renderPage(
  writer: FragmentWriter,
  catalog: PreparedCatalog,
  { end, next, start }: OffsetPage,
  render: Render,
): Steps {
  writer.bytes(DATA);
  for (let place = start; place < end; place++) {
    if (place > start) writer.bytes(COMMA);
    render(writer, catalog, place);
    writer.bytes(END);
    if (writer.length >= BYTES_PER_STEP) yield;
  }
  writer.ascii(`],"next_cursor":"${next}"}`);
}

function renderSimplified(
  writer: FragmentWriter,
  { sampling }: PreparedCatalog,
  place: number,
): void {
  writer.fragment(sampling.start[place]!, sampling.end[place]!);
}

function renderFull(writer: FragmentWriter, catalog: PreparedCatalog, place: number): void {
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
