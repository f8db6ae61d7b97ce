/**
 * Routes of the trading page: its index for every view, and its files.
 * Rules: docs/protocol.md#trading-page
 *
 * Thread: I/O.
 */
import { errorBody } from '../common/error-bodies.ts';
import { Type } from '../common/schema.ts';
import type { RequestContext } from '../http/http.ts';
import { type RouteSettings, rawRoute } from '../http/route.ts';
import { APP_MEDIA, type AppFiles } from './app-files.ts';
import { ANSWER_HEADERS } from './prepared-answer.ts';

/** Returns true where the page is served: by default where the demo is. */
export function appIsOn({ app, catalogSyncUrl, demo }: RouteSettings): boolean {
  return app === 'demo' ? demo && catalogSyncUrl === '' : app === 'on';
}

const PAGE = { isPage: true, tagged: true, answer: Type.String(), served: appIsOn } as const;

function answering(files: AppFiles | undefined) {
  return {
    headers: ANSWER_HEADERS,
    run: async (context: RequestContext): Promise<void> => {
      const found = files?.find(context.path);
      if (found === undefined) context.reply(404, errorBody('NOT_FOUND'));
      else await (await found).reply(context);
    },
  };
}

export const APP_ROUTES = [
  rawRoute('GET /app', { ...PAGE, media: ['text/html'], does: 'the trading page' }, answering),
  rawRoute(
    'GET /app/*',
    { ...PAGE, media: APP_MEDIA, does: 'its views, and below `assets/` what it is made of' },
    answering,
  ),
];
