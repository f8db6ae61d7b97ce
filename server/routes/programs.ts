/**
 * Routes of programs that other venues have and this one does not: rewards, builders, notifications, comments, scoring
 * of orders, a migration. They answer truthfully, in the empty shape that clients read, so that bots go on.
 *
 * Thread: I/O.
 */

import { badRequest } from '../catalog/parameters.ts';
import { errorBody } from '../common/error-bodies.ts';
import { nextIteration } from '../common/event-loop.ts';
import { readJson } from '../common/json.ts';
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { compileShape, Type } from '../common/schema.ts';
import type { RequestContext } from '../http/http.ts';
import { type RouteDefinition, type RouteName, route } from '../http/route.ts';
import { pageBody } from '../wallet/pages.ts';
import { text, whole } from './shorthand.ts';

const IDS_MAX = 1_000;
const OrderIds = Type.Array(text(), { maxItems: IDS_MAX });
const IDS_BOUNDS = boundsOf(IDS_MAX);
const IDS_PER_TURN = 128;
const EmptyPage = Type.Object({
  data: Type.Array(Type.Unknown(), { maxItems: 0 }),
  next_cursor: Type.Literal('LTE='),
  limit: whole(),
  count: Type.Literal(0),
});
const NoRows = Type.Array(Type.Unknown(), { maxItems: 0 });
const Scoring = Type.Object({ scoring: Type.Literal(false) });
const ScoringById = Type.Record(text(), Type.Literal(false));
const BuilderFees = Type.Object({
  builder_maker_fee_rate_bps: Type.Literal(0),
  builder_taker_fee_rate_bps: Type.Literal(0),
});

const INVALID_IDS = errorBody('INVALID_PAYLOAD', 'the body must be an array of order ids');
const orderIds = compileShape(OrderIds);

type Answer = 'an empty page' | 'an empty list';

const answering = (body: string) => () => (context: RequestContext) => context.reply(200, body);
const EMPTY = {
  'an empty page': { answer: EmptyPage, body: pageBody([], 0, false) },
  'an empty list': { answer: NoRows, body: '[]' },
} as const;

function emptyRoute<const Key extends RouteName>(
  key: Key,
  access: 'none' | 'level2-read',
  does: Answer,
  options: Pick<RouteDefinition, 'api' | 'group' | 'query'> = {},
) {
  const { answer, body } = EMPTY[does];
  return route(key, { ...options, access, answer, does }, answering(body));
}

/** A path parameter of any text, refused in the shape of the catalog API. */
function ofComments(name: string) {
  return compileQuery(Type.Object({ [name]: text() }), [name], (error) =>
    badRequest(error, 'rule'),
  );
}

export const PROGRAM_ROUTES = [
  route(
    'GET /data/pre-migration-orders',
    {
      access: 'level2-read',
      answer: EmptyPage,
      does: 'own orders of an exchange before this one: none, an empty page',
    },
    answering(EMPTY['an empty page'].body),
  ),
  route(
    'GET /order-scoring',
    {
      access: 'level2-read',
      answer: Scoring,
      does: 'whether an order earns rewards: never, as this and all that follows is not run here',
    },
    answering('{"scoring":false}'),
  ),
  route(
    'POST /orders-scoring',
    {
      access: 'level2-read',
      body: OrderIds,
      bodyBounds: IDS_BOUNDS,
      answer: ScoringById,
      repeats: true,
      does: 'the same by order id: `["..", ".."]`',
    },
    () => (context) =>
      readJson(context, IDS_BOUNDS, async (ids) => {
        if (!orderIds.matches(ids)) return context.reply(400, INVALID_IDS);
        const members: string[] = [];
        for (const id of new Set(ids)) {
          if (members.length % IDS_PER_TURN === IDS_PER_TURN - 1) await nextIteration();
          members.push(`${JSON.stringify(id)}:false`);
        }
        context.reply(200, `{${members.join(',')}}`);
      }),
  ),
  emptyRoute('GET /notifications', 'level2-read', 'an empty list'),
  route(
    'DELETE /notifications',
    { access: 'level2-read', answer: Type.Literal('OK'), does: '`"OK"`' },
    answering('"OK"'),
  ),
  emptyRoute('GET /rewards/user', 'level2-read', 'an empty page'),
  emptyRoute('GET /rewards/user/total', 'level2-read', 'an empty list'),
  route(
    'GET /rewards/user/percentages',
    { access: 'level2-read', answer: Type.Object({}), does: 'an empty object' },
    answering('{}'),
  ),
  emptyRoute('GET /rewards/user/markets', 'level2-read', 'an empty page'),
  emptyRoute('GET /rewards/markets/current', 'none', 'an empty page'),
  emptyRoute('GET /rewards/markets/:condition_id', 'none', 'an empty page', {
    query: compileQuery(Type.Object({ condition_id: text() }), ['condition_id']),
  }),
  emptyRoute('GET /comments', 'none', 'an empty list', { api: 'catalog' }),
  route(
    'GET /comments/keyset',
    { api: 'catalog', answer: Type.Object({ comments: NoRows }), does: '`{"comments": []}`' },
    answering('{"comments":[]}'),
  ),
  emptyRoute('GET /comments/:id', 'none', 'an empty list', {
    api: 'catalog',
    query: ofComments('id'),
  }),
  emptyRoute('GET /comments/user_address/:address', 'none', 'an empty list', {
    api: 'catalog',
    query: ofComments('address'),
  }),
  emptyRoute('GET /auth/builder-api-key', 'level2-read', 'an empty list', { group: 'keys' }),
  emptyRoute('GET /builder/trades', 'none', 'an empty page'),
  route(
    'GET /fees/builder-fees/:code',
    {
      query: compileQuery(Type.Object({ code: text() }), ['code']),
      answer: BuilderFees,
      does: 'fees of builders: 0',
    },
    answering('{"builder_maker_fee_rate_bps":0,"builder_taker_fee_rate_bps":0}'),
  ),
];
