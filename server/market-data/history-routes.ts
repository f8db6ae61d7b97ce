/**
 * GET /prices-history, POST /batch-prices-history and POST /data/volumes (GAPS 4.2).
 *
 * Thread: I/O. A batch gives the event loop a turn between tokens; what is read for one is bounded by
 * POINTS_MAX.
 */

import type { Tables } from '../../engine/tables.ts';
import type { TokenSlot } from '../../engine/units.ts';
import { ProjectionUnready } from '../../storage/projection/reader.ts';
import { errorBody } from '../common/contract.ts';
import { microText } from '../common/decimal.ts';
import { parseJson } from '../common/json.ts';
import { nextTurn } from '../common/next-turn.ts';
import { compileShape, type Shape } from '../common/schema.ts';
import type { Handler } from '../http/http.ts';
import { marketByCondition } from './find.ts';
import type { HistoryKeeper } from './history-keeper.ts';
import { renderPoints } from './history-render.ts';
import {
  type BatchHistoryAsked,
  BatchHistoryBody,
  type HistoryQuery,
  VolumesBody,
} from './history-schemas.ts';
import { bucketsOf, type HistoryWindow, windowOf } from './history-window.ts';
import type { TokenTexts } from './texts.ts';

export interface HistoryRouteParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly history: HistoryKeeper;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const MS = 1_000;
const MINUTE_SECONDS = 60;
const NO_POINTS = Buffer.from('[]');
const BEING_MADE = errorBody(
  'price history is being made again',
  'a stored row was damaged; it takes seconds, ask again',
);

const batchShape = compileShape(BatchHistoryBody);
const volumesShape = compileShape(VolumesBody);

export function historyHandlers(parts: HistoryRouteParts) {
  const getHistory: Handler<HistoryQuery> = async (exchange, query) => {
    const window = windowOf(query, Math.floor(parts.now() / MS));
    if (typeof window === 'string') {
      exchange.reply(400, errorBody(window));
      return;
    }
    const token = parts.texts.find(query.market);
    const points = await renderToken(parts, token, window, firstTradeOf(parts, [token]));
    exchange.reply(200, Buffer.concat([Buffer.from('{"history":'), points, Buffer.from('}')]));
  };

  const postBatch: Handler<unknown> = async (exchange) => {
    const body = readBody(batchShape, exchange.body);
    if (typeof body === 'string') return exchange.reply(400, body);
    const differing = differingTimes(body);
    if (differing !== '') return exchange.reply(400, errorBody('Invalid payload', differing));
    const window = windowOf(askedOf(body), Math.floor(parts.now() / MS));
    if (typeof window === 'string') return exchange.reply(400, errorBody(window));
    const ids = [...new Set(body.markets)];
    const tokens = ids.map((id) => parts.texts.find(id));
    // One step for all of them, so that the points of one answer lie side by side.
    const firstTrade = firstTradeOf(parts, tokens);
    const pieces: Buffer[] = [];
    for (const [i, id] of ids.entries()) {
      if (i > 0) await nextTurn();
      if (exchange.aborted) return;
      pieces.push(Buffer.from(`${i === 0 ? '{"history":{' : ','}${JSON.stringify(id)}:`));
      pieces.push(await renderToken(parts, tokens[i]!, window, firstTrade));
    }
    pieces.push(Buffer.from('}}'));
    exchange.reply(200, Buffer.concat(pieces));
  };

  const postVolumes: Handler<unknown> = (exchange) => {
    const body = readBody(volumesShape, exchange.body);
    if (typeof body === 'string') {
      exchange.reply(400, body);
      return;
    }
    const has24h = body.include_24h === true;
    const rows = body.conditions.map((asked) => volumeOf(parts, asked.condition_id, has24h));
    exchange.reply(200, JSON.stringify(rows));
  };

  return {
    'GET /prices-history': unlessUnready(getHistory),
    'POST /batch-prices-history': unlessUnready(postBatch),
    'POST /data/volumes': postVolumes,
  };
}

/** Answers 503 while what is on disk cannot be read. */
function unlessUnready<Query>(handler: Handler<Query>): Handler<Query> {
  return async (...asked) => {
    const [exchange] = asked;
    try {
      await handler(...asked);
    } catch (error) {
      if (!(error instanceof ProjectionUnready)) throw error;
      exchange.reply(503, BEING_MADE);
    }
  };
}

/** The checked body, or the JSON body of a 400. */
function readBody<T>(shape: Shape<T>, bytes: Uint8Array): T | string {
  const sent = parseJson(bytes);
  if (shape.matches(sent)) return sent;
  if (sent === undefined) return errorBody('Invalid payload');
  const { missing, path } = shape.fault(sent);
  const where = path.length === 0 ? 'the body' : path.join('.');
  return errorBody('Invalid payload', `${where} ${missing ? 'is missing' : 'has a bad value'}`);
}

/** Which time has two values under its two spellings; '' = none. */
function differingTimes({ endTs, end_ts, startTs, start_ts }: BatchHistoryAsked): string {
  if ((startTs ?? start_ts) !== (start_ts ?? startTs)) return 'startTs and start_ts differ';
  return (endTs ?? end_ts) === (end_ts ?? endTs) ? '' : 'endTs and end_ts differ';
}

function askedOf(body: BatchHistoryAsked) {
  const startTs = body.startTs ?? body.start_ts;
  const endTs = body.endTs ?? body.end_ts;
  return {
    ...(body.interval === undefined ? {} : { interval: body.interval }),
    ...(startTs === undefined ? {} : { startTs }),
    ...(endTs === undefined ? {} : { endTs }),
    ...(body.fidelity === undefined ? {} : { fidelity: body.fidelity }),
  };
}

/** Unix seconds of the first trade of any of the tokens; undefined = none has traded. */
function firstTradeOf(
  { history }: HistoryRouteParts,
  tokens: readonly (TokenSlot | 0)[],
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
  token: TokenSlot | 0,
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
