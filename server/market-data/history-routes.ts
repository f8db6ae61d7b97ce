/**
 * GET /prices-history, POST /batch-prices-history and POST /data/volumes (docs/protocol.md#price-history).
 *
 * Thread: I/O. A batch yields to the event loop between tokens; POINTS_MAX bounds the work for one token.
 */

import type { Tables } from '../../engine/tables/tables.ts';
import type { Pips, TokenRow } from '../../engine/tables/units.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import { ProjectionUnready } from '../../storage/projection/reader.ts';
import { DECIMAL_BYTES_MAX, microText, writeInteger, writePips } from '../common/decimal.ts';
import { errorBody } from '../common/error-bodies.ts';
import { nextIteration } from '../common/event-loop.ts';
import { readJson, TOO_MUCH, TOO_MUCH_DETAIL } from '../common/json.ts';
import { compileShape, type Shape } from '../common/schema.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import { route } from '../http/route.ts';
import { marketByCondition } from './find.ts';
import {
  BATCH_HISTORY_BOUNDS,
  BatchHistoryAnswer,
  BatchHistoryBody,
  type BatchHistoryRequest,
  HISTORY_QUERY,
  HistoryAnswer,
  type HistoryQuery,
  VOLUMES_BOUNDS,
  VolumesAnswer,
  VolumesBody,
} from './history-schemas.ts';
import type { HistoryService } from './history-service.ts';
import {
  type Buckets,
  bucketsOf,
  type HistoryWindow,
  startOf,
  windowOf,
} from './history-window.ts';
import { ascii, put, type TokenTexts } from './texts.ts';

export interface HistoryRouteParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly history: HistoryService;
  readonly now: () => number;
}

const MS = 1_000;
const MINUTE_SECONDS = 60;
/** Conditions looked up without a pause. The first look-up of a market takes some 10 us. */
const CONDITIONS_PER_TURN = 64;
const NO_POINTS = Buffer.from('[]');
const HISTORY_UNREADY = errorBody(
  'BEING_DERIVED',
  'a stored row was damaged; it takes seconds, ask again',
  { text: 'price history is being made again' },
);

const batchShape = compileShape(BatchHistoryBody);
const volumesShape = compileShape(VolumesBody);

export const HISTORY_ROUTES = [
  route(
    'GET /prices-history',
    {
      limits: ['pricesHistory', 'trading'],
      query: HISTORY_QUERY,
      answer: HistoryAnswer,
      does: 'last trade prices of a token over time: `market interval startTs endTs fidelity`',
    },
    (parts: HistoryRouteParts) =>
      unlessUnready<HistoryQuery>(async (context, query) => {
        const window = windowOf(query, Math.floor(parts.now() / MS));
        if (typeof window === 'string')
          return context.reply(400, errorBody('INVALID_WINDOW', '', { text: window }));
        const token = parts.texts.find(query.market);
        const points = await renderToken(parts, token, window, firstTradeOf(parts, [token]));
        context.reply(200, Buffer.concat([Buffer.from('{"history":'), points, Buffer.from('}')]));
      }),
  ),
  route(
    'POST /batch-prices-history',
    {
      limits: ['pricesHistory', 'trading'],
      body: BatchHistoryBody,
      bodyBounds: BATCH_HISTORY_BOUNDS,
      answer: BatchHistoryAnswer,
      repeats: true,
      does: 'the same of up to 20 tokens, by token id: `markets` and the same parameters',
    },
    (parts: HistoryRouteParts) =>
      unlessUnready((context) =>
        readJson(context, BATCH_HISTORY_BOUNDS, (sent) => answerBatch(parts, context, sent)),
      ),
  ),
  route(
    'POST /data/volumes',
    {
      body: VolumesBody,
      bodyBounds: VOLUMES_BOUNDS,
      answer: VolumesAnswer,
      group: 'trading markets',
      does: 'traded collateral of up to 500 markets by condition id, of all time and of 24 hours',
    },
    (parts: HistoryRouteParts) => (context) =>
      readJson(context, VOLUMES_BOUNDS, (sent) => answerVolumes(parts, context, sent)),
  ),
];

async function answerBatch(
  parts: HistoryRouteParts,
  context: RequestContext,
  sent: unknown,
): Promise<void> {
  const body = checkBody(batchShape, sent);
  if (typeof body === 'string') return context.reply(400, body);
  const differing = differingTimes(body);
  if (differing !== '') return context.reply(400, errorBody('INVALID_PAYLOAD', differing));
  const window = windowOf(windowQueryOf(body), Math.floor(parts.now() / MS));
  if (typeof window === 'string')
    return context.reply(400, errorBody('INVALID_WINDOW', '', { text: window }));
  const ids = [...new Set(body.markets)];
  const tokens = ids.map((id) => parts.texts.find(id));
  // One step for all tokens, so that the points of one answer have the same times.
  const firstTrade = firstTradeOf(parts, tokens);
  const pieces: Buffer[] = [];
  for (const [i, id] of ids.entries()) {
    if (i > 0) await nextIteration();
    if (context.aborted) return;
    pieces.push(Buffer.from(`${i === 0 ? '{"history":{' : ','}${JSON.stringify(id)}:`));
    pieces.push(await renderToken(parts, tokens[i]!, window, firstTrade));
  }
  pieces.push(Buffer.from('}}'));
  context.reply(200, Buffer.concat(pieces));
}

async function answerVolumes(
  parts: HistoryRouteParts,
  context: RequestContext,
  sent: unknown,
): Promise<void> {
  const body = checkBody(volumesShape, sent);
  if (typeof body === 'string') return context.reply(400, body);
  const has24h = body.include_24h === true;
  const rows: string[] = [];
  for (const [i, { condition_id: id }] of body.conditions.entries()) {
    if (i > 0 && i % CONDITIONS_PER_TURN === 0) await nextIteration();
    rows.push(JSON.stringify(volumeOf(parts, id, has24h)));
  }
  context.reply(200, `[${rows.join(',')}]`);
}

function unlessUnready<Query>(handler: Handler<Query>): Handler<Query> {
  return async (...args) => {
    const [context] = args;
    try {
      await handler(...args);
    } catch (error) {
      if (!(error instanceof ProjectionUnready)) throw error;
      context.reply(503, HISTORY_UNREADY);
    }
  };
}

/** Returns the checked body, or the JSON body of a 400. */
function checkBody<T>(shape: Shape<T>, sent: unknown): T | string {
  if (shape.matches(sent)) return sent;
  if (sent === undefined) return errorBody('INVALID_PAYLOAD');
  if (sent === TOO_MUCH) return errorBody('INVALID_PAYLOAD', TOO_MUCH_DETAIL);
  const { missing, path } = shape.fault(sent);
  const where = path.length === 0 ? 'the body' : path.join('.');
  return errorBody('INVALID_PAYLOAD', `${where} ${missing ? 'is missing' : 'has a bad value'}`);
}

/** Returns the name of a time with two different values in its two spellings; '' = none. */
function differingTimes({ endTs, end_ts, startTs, start_ts }: BatchHistoryRequest): string {
  if ((startTs ?? start_ts) !== (start_ts ?? startTs)) return 'startTs and start_ts differ';
  return (endTs ?? end_ts) === (end_ts ?? endTs) ? '' : 'endTs and end_ts differ';
}

function windowQueryOf(body: BatchHistoryRequest) {
  const startTs = body.startTs ?? body.start_ts;
  const endTs = body.endTs ?? body.end_ts;
  return {
    ...(body.interval === undefined ? {} : { interval: body.interval }),
    ...(startTs === undefined ? {} : { startTs }),
    ...(endTs === undefined ? {} : { endTs }),
    ...(body.fidelity === undefined ? {} : { fidelity: body.fidelity }),
  };
}

/** Unix seconds of the earliest trade of the tokens; undefined without a trade. */
function firstTradeOf(
  { history }: HistoryRouteParts,
  tokens: readonly (TokenRow | 0)[],
): number | undefined {
  let first: number | undefined;
  for (const token of tokens) {
    const minute = token === 0 ? undefined : history.prices.firstMinute(token);
    if (minute === undefined) continue;
    first = Math.min(first ?? Number.POSITIVE_INFINITY, minute * MINUTE_SECONDS);
  }
  return first;
}

async function renderToken(
  { history }: HistoryRouteParts,
  token: TokenRow | 0,
  window: HistoryWindow,
  firstTrade: number | undefined,
): Promise<Buffer> {
  if (token === 0 || firstTrade === undefined) return NO_POINTS;
  const buckets = bucketsOf(window, firstTrade);
  if (buckets === undefined) return NO_POINTS;
  const { first, last, step } = buckets;
  return renderPoints(history.prices.series(token, step, first, last), buckets);
}

/** Row of POST /data/volumes. Amounts are decimal texts, as the web client reads them. */
function volumeOf({ history, now, tables }: HistoryRouteParts, sent: string, has24h: boolean) {
  const conditionId = wholeCondition(sent);
  const market = marketByCondition(tables, conditionId);
  if (market === 0) return { condition_id: conditionId, status: 404, error: 'market not found' };
  const volume = microText(history.volumes.totalOf(market));
  if (!has24h) return { condition_id: conditionId, status: 200, volume };
  const volume_24h = microText(history.volumes.dayOf(market, now()));
  return { condition_id: conditionId, status: 200, volume, volume_24h };
}

/** Points rendered without a pause: 0.5 ms; 3 ms before V8 has compiled the code. */
const POINTS_PER_TURN = 2_048;

const T = ascii('{"t":');
const P = ascii(',"p":');
const END = ascii('},');
const OPEN = 0x5b;
const CLOSE = 0x5d;
const POINT_BYTES_MAX = T.length + P.length + END.length + 2 * DECIMAL_BYTES_MAX;

/**
 * Renders `[{"t":1713871800,"p":0.42},..]`, ascending, without the buckets before the first trade.
 * @param prices pips of each bucket; 0 = no trade so far
 * @internal Tests compare a long answer with JSON.
 */
export async function renderPoints(prices: Uint16Array, buckets: Buckets): Promise<Buffer> {
  const { first, step } = buckets;
  const out = Buffer.allocUnsafe(2 + prices.length * POINT_BYTES_MAX);
  let at = 0;
  out[at++] = OPEN;
  for (let i = 0; i < prices.length; i++) {
    if (i > 0 && i % POINTS_PER_TURN === 0) await nextIteration();
    if (prices[i] === 0) continue;
    at = put(T, out, at);
    at = writeInteger(startOf(first + i, step), out, at);
    at = put(P, out, at);
    at = writePips(prices[i]! as Pips, out, at);
    at = put(END, out, at);
  }
  // The closing bracket replaces the last comma.
  if (at > 1) at -= 1;
  out[at++] = CLOSE;
  return out.subarray(0, at);
}
