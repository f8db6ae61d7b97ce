/**
 * The handlers of the documents and of the page that shows them. Each answer is made at its first
 * request and then cached.
 *
 * Thread: I/O.
 */
import { errorBody } from '../common/error-bodies.ts';
import type { RequestContext } from '../http/http.ts';
import type { Json } from './json-schema.ts';
import { ANSWER_HEADERS, PreparedAnswer } from './prepared-answer.ts';
import { VIEWER_PARTS } from './viewer.ts';

/** The functions that make the documents. */
export interface Documents {
  readonly openApi: () => Promise<Json>;
  readonly asyncApi: () => Promise<Json>;
}

type Handle = (context: RequestContext) => Promise<void>;

export function documentHandlers({ asyncApi, openApi }: Documents) {
  const page = new Map([...VIEWER_PARTS].map(([name, make]) => [name, madeOnce(make)]));
  return {
    'GET /openapi.json': route(madeOnce(() => prepared(openApi))),
    'GET /asyncapi.json': route(madeOnce(() => prepared(asyncApi))),
    'GET /docs': route(page.get('')!),
    'GET /docs/:file': route(async (context) => {
      const file = page.get(context.parameters[0]!);
      if (file === undefined) context.reply(404, errorBody('not found'));
      else await file(context);
    }),
  };
}

function route(run: Handle) {
  return { headers: ANSWER_HEADERS, run };
}

/** Serves an answer that is made once; after a failure the next call tries again. */
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
