/**
 * What other venues run beside trading and this one does not: rewards, builders, notifications,
 * scoring of orders, a migration. Their routes say so truthfully, in the empty shape that clients
 * read, so that a bot which looks at them in passing goes on.
 *
 * Thread: I/O.
 */
import { pageBody } from '../account/pages.ts';
import { errorBody } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { boundsOf } from '../common/json-measure.ts';
import { nextTurn } from '../common/next-turn.ts';
import { compileQuery, NO_QUERY } from '../common/query.ts';
import { compileShape, Type } from '../common/schema.ts';
import type { RequestContext } from '../http/http.ts';
import type { RouteRow } from './route-row.ts';

const IDS_MAX = 1_000;
const OrderIds = Type.Array(Type.String(), { maxItems: IDS_MAX });
const IDS_BOUNDS = boundsOf(IDS_MAX);
/** Written without a pause. */
const IDS_PER_TURN = 128;
const EmptyPage = Type.Object({
  data: Type.Array(Type.Unknown(), { maxItems: 0 }),
  next_cursor: Type.Literal('LTE='),
  limit: Type.Integer(),
  count: Type.Literal(0),
});
const NoRows = Type.Array(Type.Unknown(), { maxItems: 0 });
const Scoring = Type.Object({ scoring: Type.Literal(false) });
const ScoringById = Type.Record(Type.String(), Type.Literal(false));
const BuilderFees = Type.Object({
  builder_maker_fee_rate_bps: Type.Literal(0),
  builder_taker_fee_rate_bps: Type.Literal(0),
});

const open = {
  api: 'trading',
  access: 'none',
  bodyMax: 'none',
  body: undefined,
  limits: ['trading'],
  query: NO_QUERY,
} as const;
const own = { ...open, access: 'level2-read' } as const;
const page = { answer: EmptyPage } as const;
const ofMarket = {
  ...open,
  query: compileQuery(Type.Object({ condition_id: Type.String() }), ['condition_id']),
} as const;
const ofBuilder = {
  ...open,
  query: compileQuery(Type.Object({ code: Type.String() }), ['code']),
} as const;

export const PROGRAM_ROUTES = {
  'GET /data/pre-migration-orders': {
    ...own,
    ...page,
    does: 'own orders of an exchange before this one: none, an empty page',
  },
  'GET /order-scoring': {
    ...own,
    answer: Scoring,
    does: 'whether an order earns rewards: never, as this and all that follows is not run here',
  },
  'POST /orders-scoring': {
    ...own,
    bodyMax: 'mebibyte',
    body: OrderIds,
    bodyBounds: IDS_BOUNDS,
    answer: ScoringById,
    repeats: true,
    does: 'the same by order id: `["..", ".."]`',
  },
  'GET /notifications': { ...own, answer: NoRows, does: 'an empty list' },
  'DELETE /notifications': { ...own, answer: Type.Literal('OK'), does: '`"OK"`' },
  'GET /rewards/user': { ...own, ...page, does: 'an empty page' },
  'GET /rewards/user/total': { ...own, answer: NoRows, does: 'an empty list' },
  'GET /rewards/user/percentages': { ...own, answer: Type.Object({}), does: 'an empty object' },
  'GET /rewards/user/markets': { ...own, ...page, does: 'an empty page' },
  'GET /rewards/markets/current': { ...open, ...page, does: 'an empty page' },
  'GET /rewards/markets/:condition_id': { ...ofMarket, ...page, does: 'an empty page' },
  'GET /auth/builder-api-key': { ...own, answer: NoRows, does: 'an empty list' },
  'GET /builder/trades': { ...open, ...page, does: 'an empty page' },
  'GET /fees/builder-fees/:code': {
    ...ofBuilder,
    answer: BuilderFees,
    does: 'fees of builders: 0',
  },
} as const satisfies Readonly<Record<string, RouteRow>>;

const INVALID_IDS = errorBody('Invalid payload', 'the body must be an array of order ids');
const orderIds = compileShape(OrderIds);

const answering = (body: string) => (context: RequestContext) => context.reply(200, body);
const emptyPage = answering(pageBody([], 0, false));
const noRows = answering('[]');

export const PROGRAM_HANDLERS = {
  'GET /data/pre-migration-orders': emptyPage,
  'GET /order-scoring': answering('{"scoring":false}'),
  'POST /orders-scoring': (context: RequestContext) =>
    readJson(context, IDS_BOUNDS, async (ids) => {
      if (!orderIds.matches(ids)) return context.reply(400, INVALID_IDS);
      const members: string[] = [];
      for (const id of new Set(ids)) {
        if (members.length % IDS_PER_TURN === IDS_PER_TURN - 1) await nextTurn();
        members.push(`${JSON.stringify(id)}:false`);
      }
      context.reply(200, `{${members.join(',')}}`);
    }),
  'GET /notifications': noRows,
  'DELETE /notifications': answering('"OK"'),
  'GET /rewards/user': emptyPage,
  'GET /rewards/user/total': noRows,
  'GET /rewards/user/percentages': answering('{}'),
  'GET /rewards/user/markets': emptyPage,
  'GET /rewards/markets/current': emptyPage,
  'GET /rewards/markets/:condition_id': emptyPage,
  'GET /auth/builder-api-key': noRows,
  'GET /builder/trades': emptyPage,
  'GET /fees/builder-fees/:code': answering(
    '{"builder_maker_fee_rate_bps":0,"builder_taker_fee_rate_bps":0}',
  ),
};
