/**
 * Files of the trading page, which the build makes (build/page-files.ts). Links of the index are relative to its <base>,
 * which leads from any view to /app/, also behind a path prefix of a proxy.
 *
 * Thread: I/O; files are read at start.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { builtPage } from '../common/built-page.ts';
import { PreparedAnswer } from './prepared-answer.ts';

/** Nothing inline, and nothing from another host; streams of the same origin are part of 'self'. */
const APP_POLICY = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = 'text/html; charset=utf-8';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Content types of the page and its files. */
export const APP_MEDIA = [
  'text/html',
  'text/css',
  'text/javascript',
  'image/svg+xml',
  'text/plain',
];

const ASSETS = 'assets/';
const BASE = '<base href="./">';
const HASHED = /-[0-9a-f]{10}\.[a-z]+$/;
/** Slashes in the path of a view below /app/. */
const SLASHES_MAX = 3;

const REVALIDATED = 'no-cache';
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Answers of the page by <base>, and of its files by name. */
export class AppFiles {
  private readonly views = new Map<string, Promise<PreparedAnswer>>();
  private readonly files = new Map<string, Promise<PreparedAnswer>>();

  /** Returns undefined where the page is not built. */
  static read(warn: (line: string) => void): AppFiles | undefined {
    const folder = builtPage('app');
    if (folder !== undefined) return new AppFiles(folder);
    warn('the trading page is not built: run "npm run build"');
    return undefined;
  }

  private constructor(folder: string) {
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    for (const base of BASES) this.views.set(base, prepared(viewOf(html, base), HTML, REVALIDATED));
    for (const name of readdirSync(join(folder, ASSETS))) {
      const type = TYPES[extname(name)];
      if (type === undefined)
        throw new Error(`the trading page has a file of an unknown type: ${name}`);
      const bytes = readFileSync(join(folder, ASSETS, name));
      this.files.set(name, prepared(bytes, type, HASHED.test(name) ? IMMUTABLE : REVALIDATED));
    }
  }

  /**
   * Returns undefined where there is nothing.
   * @param path of the URL, as sent: /app, or below it
   */
  find(path: string): Promise<PreparedAnswer> | undefined {
    const below = path.slice('/app/'.length);
    if (below.startsWith(ASSETS)) return this.files.get(below.slice(ASSETS.length));
    if (path === '/app') return this.views.get(BASES[0]!);
    return this.views.get(BASES[below.split('/').length]!);
  }
}

/** From /app, from /app/ and its views, and from paths with one to three slashes more. */
const BASES: readonly string[] = [
  'app/',
  './',
  ...Array.from({ length: SLASHES_MAX }, (_, i) => '../'.repeat(i + 1)),
];

function viewOf(html: string, base: string): string {
  const view = html.replace(BASE, `<base href="${base}">`);
  if (base !== './' && view === html) throw new Error(`the trading page has no ${BASE}`);
  return view;
}

function prepared(
  content: string | Buffer,
  type: string,
  caching: string,
): Promise<PreparedAnswer> {
  return PreparedAnswer.of(content, [
    ['Content-Type', type],
    ['Cache-Control', caching],
    ['Content-Security-Policy', APP_POLICY],
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
  ]);
}
