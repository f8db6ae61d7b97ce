/**
 * Which lines of the product the tests have run: the last part of `npm run coverage`, which runs `npm test` with
 * NODE_V8_COVERAGE=coverage/raw. So the processes and threads of the tests run what is built, and this program leads what
 * V8 has counted there, in modules and in the bundle, back to the lines of the sources.
 *
 *   node dist/build/coverage.js     prints a table; ends with 1 where a part has less than it must have
 *
 * coverage/lines.txt lists the lines that did not run. A process that is killed counts nothing.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, mappedBundle } from './bundle-parts.ts';
import { CodeLines, type FunctionCoverage } from './code-lines.ts';

/** Folders of the product, by the part whose percentage counts. */
const PARTS = { engine: ['engine'], rest: ['storage', 'server', 'client'] } as const;
/** Percent that the tests of a newcomer run; slow tests run most of the rest. */
const LEAST: Readonly<Record<keyof typeof PARTS, number>> = { engine: 97, rest: 77 };

const ROOT = resolve(COMPILED, '..');
const FOLDER = join(ROOT, 'coverage');
const RAW = join(FOLDER, 'raw');
const MAPS = join(FOLDER, 'maps');
const LISTED = join(FOLDER, 'lines.txt');
const BUNDLE = join(COMPILED, 'node');

interface Written {
  readonly result: readonly { readonly url: string; readonly functions: FunctionCoverage[] }[];
}

/** Compiled files of the product, by their sources' paths: `engine/engine.ts`. */
function compiledFiles(): ReadonlyMap<string, CodeLines> {
  const names = Object.values(PARTS)
    .flat()
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name).split(sep).join('/'),
      ),
    );
  // A browser runs the pages.
  const ofNode = names.filter((name) => !name.startsWith('server/page/'));
  const sources = ofNode.filter((name) => /(?<!\.d)\.ts$/.test(name)).sort();
  return new Map(
    sources.map((name) => [
      name,
      new CodeLines(readFileSync(join(COMPILED, compiledName(name)), 'utf8')),
    ]),
  );
}

function compiledName(source: string): string {
  return source.replace(/\.ts$/, '.js');
}

/** The source of a compiled file, as a path from the root; undefined for a file from elsewhere. */
function sourceOf(file: string): string | undefined {
  const name = relative(COMPILED, file);
  return name.startsWith('..') ? undefined : name.split(sep).join('/').replace(/\.js$/, '.ts');
}

interface Bundled {
  readonly lines: CodeLines;
  readonly map: SourceMap;
}

/** Files of the bundle by their paths. */
async function bundledFiles(): Promise<ReadonlyMap<string, Bundled>> {
  const files = new Map<string, Bundled>();
  for (const { map, name, text } of await mappedBundle(BUNDLE)) {
    const file = join(BUNDLE, name);
    if (readFileSync(file, 'utf8') !== text) throw new Error(`${file} is of another build`);
    files.set(file, { lines: new CodeLines(text), map: new SourceMap(map as SourceMapPayload) });
  }
  return files;
}

/** Adds what every process and thread has written. Returns how many of them there are. */
function addAll(files: ReadonlyMap<string, CodeLines>): number {
  let count = 0;
  for (const name of readdirSync(RAW)) {
    const written = parsed(readFileSync(join(RAW, name), 'utf8'));
    if (written === undefined) continue;
    count += 1;
    for (const { functions, url } of written.result) {
      if (url.startsWith('file:')) files.get(fileURLToPath(url))?.add(functions);
    }
  }
  return count;
}

/** Undefined for the beginning of a text: the process was killed while it wrote. */
function parsed(text: string): Written | undefined {
  try {
    return JSON.parse(text) as Written;
  } catch {
    return undefined;
  }
}

/** Lines of a source that did not run, from 1, in ranges: `12, 20-25`. */
function missing(source: string, { columns, lines, ran }: CodeLines): string {
  const path = join(MAPS, `${compiledName(source)}.map`);
  const map = new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  const places = lines.flatMap((line, i) => {
    if (ran[i] === 1) return [];
    const { originalLine } = map.findEntry(line, columns[i]!) as Partial<SourceMapping>;
    return originalLine === undefined ? [] : [originalLine + 1];
  });
  const ranges: [number, number][] = [];
  for (const line of [...new Set(places)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}

interface Share {
  readonly ran: number;
  readonly all: number;
}

function shareOf(files: ReadonlyMap<string, CodeLines>, folders: readonly string[]): Share {
  let [all, ran] = [0, 0];
  for (const [source, lines] of files) {
    if (!folders.includes(source.split('/')[0]!)) continue;
    all += lines.ran.length;
    ran += lines.ran.reduce((sum, each) => sum + each, 0);
  }
  return { ran, all };
}

const percent = ({ all, ran }: Share): number => (100 * ran) / all;
const row = (name: string, share: Share, note: string): string =>
  `  ${name.padEnd(8)} ${percent(share).toFixed(1).padStart(5)} %  ${share.ran} of ${share.all} lines${note}`;

const sources = compiledFiles();
const bundled = await bundledFiles();
const counted = new Map<string, CodeLines>([
  ...[...sources].map(([name, lines]) => [join(COMPILED, compiledName(name)), lines] as const),
  ...[...bundled].map(([file, { lines }]) => [file, lines] as const),
]);
const processes = addAll(counted);
for (const [file, { lines, map }] of bundled) {
  for (const [i, line] of lines.lines.entries()) {
    if (lines.ran[i] === 0) continue;
    const entry = map.findEntry(line, lines.columns[i]!) as Partial<SourceMapping>;
    const { originalLine, originalSource } = entry;
    if (originalSource === undefined || originalLine === undefined) continue;
    const source = sourceOf(resolve(dirname(file), originalSource));
    if (source !== undefined) sources.get(source)?.mark(originalLine);
  }
}

const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const options = ['--outDir', MAPS, '--noCheck', '--incremental', 'false', '--sourceMap'];
const { status } = spawnSync(process.execPath, [tsc, '--project', ROOT, ...options], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);
const listed = [...sources].map(([name, lines]) => [name, missing(name, lines)] as const);
const texts = listed.filter(([, text]) => text !== '').map(([name, text]) => `${name}: ${text}`);
writeFileSync(LISTED, `${texts.join('\n')}\n`);
rmSync(MAPS, { recursive: true });
rmSync(RAW, { recursive: true });

console.log(`\nlines with code that ran in ${processes} processes and threads`);
for (const [part, folders] of Object.entries(PARTS) as [keyof typeof PARTS, readonly string[]][]) {
  if (folders.length > 1) {
    for (const folder of folders) console.log(row(folder, shareOf(sources, [folder]), ''));
  }
  const share = shareOf(sources, folders);
  const isLess = percent(share) < LEAST[part];
  console.log(row(part, share, `; at least ${LEAST[part]} %${isLess ? ': TOO FEW' : ''}`));
  if (isLess) process.exitCode = 1;
}
console.log(`the others are listed in ${relative(ROOT, LISTED)}`);
