/**
 * Page that shows the OpenAPI document. Single entry point to the package swagger-ui-dist: its files lie
 * beside the bundle of the node, or where a checkout has the package. No part of the page comes from another
 * host, and the policy makes the browser refuse anything else.
 *
 * Thread: I/O; files are read on first use.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PreparedAnswer } from './prepared-answer.ts';

/** The viewer sets styles by its own code while it draws; its icons are data URLs. */
export const VIEWER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>prediction-market-node: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<main id="api"></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** Validation would send requests to another service, so it is off. */
const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  filter: true,
  validatorUrl: null,
});
`;

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const require = createRequire(import.meta.url);

interface ViewerFile {
  readonly type: string;
  /** Rejects when the package is missing. */
  readonly read: () => Promise<string | Buffer>;
}

const installed = (name: string) => () => {
  const inBundle = new URL(`../../viewer/${name}`, import.meta.url);
  return readFile(inBundle).catch(() => readFile(require.resolve(`swagger-ui-dist/${name}`)));
};

/** Files of the page; '' is the page itself. */
export const VIEWER_FILES: ReadonlyMap<string, ViewerFile> = new Map([
  ['', { type: HTML, read: async () => PAGE }],
  ['start.js', { type: SCRIPT, read: async () => START }],
  ['swagger-ui.css', { type: CSS, read: installed('swagger-ui.css') }],
  ['swagger-ui-bundle.js', { type: SCRIPT, read: installed('swagger-ui-bundle.js') }],
]);

export const VIEWER_PARTS = new Map(
  Array.from(VIEWER_FILES, ([name, { read, type }]) => [
    name,
    async () => {
      const policy = name === '' ? [['Content-Security-Policy', VIEWER_POLICY] as const] : [];
      return PreparedAnswer.of(await read(), [...headersOf(type), ...policy]);
    },
  ]),
);

function headersOf(type: string): (readonly [string, string])[] {
  return [
    ['Content-Type', type],
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
  ];
}
