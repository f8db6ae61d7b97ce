/**
 * The rows of the data API beside GET /trades: what wallets have, did and hold by the fills of this node.
 */
import * as portfolio from '../portfolio/portfolio-schemas.ts';
import type { RouteRow } from './route-row.ts';

const data = {
  api: 'data',
  access: 'none',
  bodyMax: 'none',
  body: undefined,
  // One cap for all of the data API: docs/protocol.md#rate-limits.
  limits: ['trades'],
} as const;

export const DATA_ROUTES = {
  'GET /activity': {
    ...data,
    query: portfolio.ACTIVITY_QUERY,
    answer: portfolio.ActivityAnswer,
    does: 'trades of a wallet, taken and made; with a ledger also splits, merges and payouts: `user market eventId type start end side sortBy sortDirection limit offset`',
  },
  'GET /positions': {
    ...data,
    query: portfolio.POSITIONS_QUERY,
    answer: portfolio.PositionsAnswer,
    does: 'what a wallet has by its trades here: `user market eventId sizeThreshold redeemable mergeable title sortBy sortDirection limit offset`',
  },
  'GET /closed-positions': {
    ...data,
    query: portfolio.CLOSED_QUERY,
    answer: portfolio.PositionsAnswer,
    does: 'what it has sold again: `user market eventId title sortBy sortDirection limit offset`',
  },
  'GET /value': {
    ...data,
    query: portfolio.VALUE_QUERY,
    answer: portfolio.ValueAnswer,
    does: 'what its positions are worth at the last prices: `user market`',
  },
  'GET /traded': {
    ...data,
    query: portfolio.TRADED_QUERY,
    answer: portfolio.TradedAnswer,
    does: 'in how many markets a wallet has traded: `user`',
  },
  'GET /holders': {
    ...data,
    query: portfolio.HOLDERS_QUERY,
    answer: portfolio.HoldersAnswer,
    does: 'who holds most of each token: `market limit minBalance`',
  },
  'GET /oi': {
    ...data,
    query: portfolio.INTEREST_QUERY,
    answer: portfolio.InterestAnswer,
    does: 'pairs minted less merged, of markets or of all: `market`',
  },
  'GET /live-volume': {
    ...data,
    query: portfolio.LIVE_VOLUME_QUERY,
    answer: portfolio.LiveVolumeAnswer,
    does: 'traded collateral of the markets of an event: `id`',
  },
} as const satisfies Readonly<Record<string, RouteRow>>;
