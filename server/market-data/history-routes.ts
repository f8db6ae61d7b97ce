/**
 * GET /prices-history, POST /batch-prices-history and POST /data/volumes
 * (docs/protocol.md#price-history).
 *
 * Thread: I/O. In a batch the event loop has a turn between tokens; POINTS_MAX bounds the work for
 * one token.
 */

import type { Tables } from '../../engine/tables/tables.ts';
import type { Pips, TokenRow } from '../../engine/tables/units.ts';
import { ProjectionUnready } from '../../storage/projection/reader.ts';
import { DECIMAL_BYTES_MAX, microText, writeInteger, writePips } from '../common/decimal.ts';
import { errorBody } from '../common/error-bodies.ts';
import { readJson, TOO_MUCH, TOO_MUCH_DETAIL } from '../common/json.ts';
import { nextTurn } from '../common/next-turn.ts';
import { compileShape, type Shape } from '../common/schema.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import { marketByCondition } from './find.ts';
import type { HistoryKeeper } from './history-keeper.ts';
import {
  BATCH_HISTORY_BOUNDS,
  BatchHistoryBody,
  type BatchHistoryRequest,
  type HistoryQuery,
  VOLUMES_BOUNDS,
  VolumesBody,
} from './history-schemas.ts';
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
  readonly history: HistoryKeeper;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const MS = 1_000;
const MINUTE_SECONDS = 60;
/**
 * Conditions that are looked up without a pause: the first look-up of a market takes some 10 us.
 */
const CONDITIONS_PER_TURN = 64;
const NO_POINTS = Buffer.from('[]');
const HISTORY_UNREADY = errorBody(
  'price history is being made again',
  'a stored row was damaged; it takes seconds, ask again',
);

const batchShape = compileShape(BatchHistoryBody);
const volumesShape = compileShape(VolumesBody);

export function historyHandlers(parts: HistoryRouteParts) {
  const getHistory: Handler<HistoryQuery> = async (context, query) => {
    const window = windowOf(query, Math.floor(parts.now() / MS));
    if (typeof window === 'string') {
      context.reply(400, errorBody(window));
      return;
    }
    const token = parts.texts.find(query.market);
    const points = await renderToken(parts, token, window, firstTradeOf(parts, [token]));
    context.reply(200, Buffer.concat([Buffer.from('{"history":'), points, Buffer.from('}')]));
  };

  const postBatch: Handler<unknown> = (context) =>
    readJson(context, BATCH_HISTORY_BOUNDS, (sent) => answerBatch(context, sent));
  const answerBatch = async (context: RequestContext, sent: unknown): Promise<void> => {
    const body = checkBody(batchShape, sent);
    if (typeof body === 'string') return context.reply(400, body);
    const differing = differingTimes(body);
    if (differing !== '') return context.reply(400, errorBody('Invalid payload', differing));
    const window = windowOf(windowQueryOf(body), Math.floor(parts.now() / MS));
    if (typeof window === 'string') return context.reply(400, errorBody(window));
    const ids = [...new Set(body.markets)];
    const tokens = ids.map((id) => parts.texts.find(id));
    // One step for all tokens, so that the points of one answer have the same times.
    const firstTrade = firstTradeOf(parts, tokens);
    const pieces: Buffer[] = [];
    for (const [i, id] of ids.entries()) {
      if (i > 0) await nextTurn();
      if (context.aborted) return;
      pieces.push(Buffer.from(`${i === 0 ? '{"history":{' : ','}${JSON.stringify(id)}:`));
      pieces.push(await renderToken(parts, tokens[i]!, window, firstTrade));
    }
    pieces.push(Buffer.from('}}'));
    context.reply(200, Buffer.concat(pieces));
  };

  const postVolumes: Handler<unknown> = (context) =>
    readJson(context, VOLUMES_BOUNDS, (sent) => answerVolumes(context, sent));
  const answerVolumes = async (context: RequestContext, sent: unknown): Promise<void> => {
    const body = checkBody(volumesShape, sent);
    if (typeof body === 'string') return context.reply(400, body);
    const has24h = body.include_24h === true;
    const rows: string[] = [];
    for (const [i, { condition_id: id }] of body.conditions.entries()) {
      if (i > 0 && i % CONDITIONS_PER_TURN === 0) await nextTurn();
      rows.push(JSON.stringify(volumeOf(parts, id, has24h)));
    }
    context.reply(200, `[${rows.join(',')}]`);
  };

  return {
    'GET /prices-history': unlessUnready(getHistory),
    'POST /batch-prices-history': unlessUnready(postBatch),
    'POST /data/volumes': postVolumes,
  };
}

/** Answers 503 while what is on disk cannot be read. */
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

/** The checked body, or the JSON body of a 400. */
function checkBody<T>(shape: Shape<T>, sent: unknown): T | string {
  if (shape.matches(sent)) return sent;
  if (sent === undefined) return errorBody('Invalid payload');
  if (sent === TOO_MUCH) return errorBody('Invalid payload', TOO_MUCH_DETAIL);
  const { missing, path } = shape.fault(sent);
  const where = path.length === 0 ? 'the body' : path.join('.');
  return errorBody('Invalid payload', `${where} ${missing ? 'is missing' : 'has a bad value'}`);
}

/** The time that has two different values in its two spellings; '' = none. */
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

/** Unix seconds of the earliest trade of the tokens; undefined = none has traded. */
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

/** One row of POST /data/volumes: amounts as decimal texts, as the web client reads them. */
function volumeOf(
  { history, now, tables }: HistoryRouteParts,
  conditionId: string,
  has24h: boolean,
) {
  const market = marketByCondition(tables, conditionId);
  if (market === 0) return { condition_id: conditionId, status: 404, error: 'market not found' };
  const volume = microText(history.volumes.totalOf(market));
  if (!has24h) return { condition_id: conditionId, status: 200, volume };
  const volume_24h = microText(history.volumes.dayOf(market, now()));
  return { condition_id: conditionId, status: 200, volume, volume_24h };
}

/** Points between two turns: 0.5 ms; 3 ms before V8 has compiled the code. */
const POINTS_PER_TURN = 2_048;

const T = ascii('{"t":');
const P = ascii(',"p":');
const END = ascii('},');
const OPEN = 0x5b;
const CLOSE = 0x5d;
const POINT_BYTES_MAX = T.length + P.length + END.length + 2 * DECIMAL_BYTES_MAX;

/**
 * `[{"t":1713871800,"p":0.42},..]`, ascending, without the buckets before the first trade.
 * @param prices pips of each bucket; 0 = no trade so far
 */
export async function renderPoints(prices: Uint16Array, buckets: Buckets): Promise<Buffer> {
  const { first, step } = buckets;
  const out = Buffer.allocUnsafe(2 + prices.length * POINT_BYTES_MAX);
  let at = 0;
  out[at++] = OPEN;
  for (let i = 0; i < prices.length; i++) {
    if (i > 0 && i % POINTS_PER_TURN === 0) await nextTurn();
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
