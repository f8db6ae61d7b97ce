import assert from 'node:assert/strict';
import test from 'node:test';
import {
  decodeAnswer,
  encodeRequest,
  RequestForwarder,
} from '../../server/cluster/forwarded-requests.ts';
import type { LeaderLink } from '../../server/cluster/leader-link.ts';
import { NOTHING_DONE } from '../../server/cluster/peers/calls.ts';
import type { AnswerCall } from '../../server/cluster/peers/peer-server.ts';
import { leadLost } from '../../server/common/unavailable.ts';
import type { RequestContext, Route } from '../../server/http/request-context.ts';
import { route } from '../common/http-client.ts';

const REQUEST = {
  method: 'GET',
  path: '/a',
  query: '',
  parameters: [],
  headers: [],
  address: '127.0.0.1',
  body: Buffer.alloc(0),
  minSequence: '',
  isOverLimit: false,
  aborted: false,
} as unknown as RequestContext;

async function answered(routes: readonly Route[], name: string, judgedAt = 0): Promise<Buffer> {
  let call: AnswerCall | undefined;
  const server = {
    answer: (_: number, answer: AnswerCall): void => {
      call = answer;
    },
  };
  const forwarder = new RequestForwarder({} as LeaderLink, () => true);
  forwarder.serveRoutes(
    server,
    routes,
    () => 1,
    () => undefined,
  );
  const answer = call!(encodeRequest(REQUEST, name, judgedAt), 'n1');
  assert(answer instanceof Promise);
  return Buffer.from(await answer);
}

test('a read whose leader loses the lead goes to the next one, a write is answered 503', async () => {
  const run = () => Promise.reject(leadLost());
  const routes = [
    route({ path: '/a', run }),
    { ...route({ path: '/b', method: 'POST', run }), writes: true },
  ];
  await assert.rejects(answered(routes, 'GET /a'), new RegExp(`^Error: ${NOTHING_DONE}`));
  const { body, headers, status } = decodeAnswer(await answered(routes, 'POST /b'));
  assert.equal(status, 503);
  assert.match(String(body), /NOT_LEADING/);
  assert.deepEqual(
    headers.find(([name]) => name === 'Retry-After'),
    ['Retry-After', '1'],
  );
});

test('a request names the clock by which its timestamp was checked', async () => {
  let seen: number | undefined;
  const run = (context: RequestContext): void => {
    seen = context.judgedAt;
    context.reply(200, '{}');
  };
  await answered([route({ path: '/a', run })], 'GET /a', 1_700_000_000);
  assert.equal(seen, 1_700_000_000);
});
