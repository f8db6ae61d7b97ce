/**
 * Handlers of the documents and of the page that shows them. Each answer is made at its first request and
 * then cached.
 *
 * Thread: I/O.
 */
import { errorBody } from '../common/error-bodies.ts';
import { Type } from '../common/schema.ts';
import type { RequestContext } from '../http/http.ts';
import { rawRoute } from '../http/route.ts';
import type { Json } from './json-schema.ts';
import { ANSWER_HEADERS, PreparedAnswer } from './prepared-answer.ts';
import { VIEWER_PARTS } from './viewer.ts';

export interface Documents {
  readonly openApi: () => Promise<Json>;
  readonly asyncApi: () => Promise<Json>;
}

type Handle = (context: RequestContext) => Promise<void>;

const NODE_DOCUMENT = { tagged: true, answer: Type.Object({}) } as const;
const VIEWER = { tagged: true, answer: Type.String() } as const;

export const DOCUMENT_ROUTES = [
  rawRoute(
    'GET /openapi.json',
    { ...NODE_DOCUMENT, does: 'these routes as an OpenAPI document (3.1)' },
    ({ openApi }: Documents) => ({
      headers: ANSWER_HEADERS,
      run: madeOnce(() => prepared(openApi)),
    }),
  ),
  rawRoute(
    'GET /asyncapi.json',
    { ...NODE_DOCUMENT, does: 'the streams as an AsyncAPI document (3.0)' },
    ({ asyncApi }: Documents) => ({
      headers: ANSWER_HEADERS,
      run: madeOnce(() => prepared(asyncApi)),
    }),
  ),
  rawRoute(
    'GET /docs',
    { ...VIEWER, media: ['text/html'], does: 'a page that shows these routes' },
    () => ({ headers: ANSWER_HEADERS, run: madeOnce(VIEWER_PARTS.get('')!) }),
  ),
  rawRoute(
    'GET /docs/:file',
    {
      ...VIEWER,
      media: ['text/css', 'text/javascript'],
      does: 'what that page is made of',
    },
    () => {
      const files = new Map([...VIEWER_PARTS].map(([name, make]) => [name, madeOnce(make)]));
      return {
        headers: ANSWER_HEADERS,
        run: async (context) => {
          const file = files.get(context.parameters[0]!);
          if (file === undefined) context.reply(404, errorBody('NOT_FOUND'));
          else await file(context);
        },
      };
    },
  ),
];

/** Serves an answer that is made once; after a failure the next request tries again. */
function madeOnce(make: () => Promise<PreparedAnswer>): Handle {
  let made: Promise<PreparedAnswer> | undefined;
  return async (context) => {
    made ??= make();
    try {
      await (await made).reply(context);
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
}

async function prepared(make: () => Promise<Json>): Promise<PreparedAnswer> {
  return PreparedAnswer.of(JSON.stringify(await make()), []);
}
