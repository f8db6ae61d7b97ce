/**
 * Files of a page, from its index.html: one script, one style sheet, and the icons that it names. Their names have
 * digests of their contents, so that browsers may keep them. Licenses of the packages inside are a file beside them.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { COMPILED, pageScript } from './bundle-parts.ts';
import { minified } from './minify.ts';

/** Folders of server/page, and of the output. */
export const PAGES = ['app', 'desk'] as const;
/** Folder of the files below the page's address. */
const ASSETS = 'assets';
const LICENSES = 'licenses.txt';
const DIGEST_LETTERS = 10;

const SCRIPT = /<script type="module" src="main\.tsx"><\/script>/;
const SHEETS = /<link rel="stylesheet" href="([^"]+)">\n?/g;
const ICONS = /(<link rel="icon" href=")([^"]+)(">)/g;

/** Writes a page into a folder. Returns the files that it is made of. */
export async function writePage(
  page: (typeof PAGES)[number],
  dir: string,
): Promise<readonly string[]> {
  const folder = join('server/page', page);
  /** Below the repository's folder, in which this runs. */
  const source = resolve(folder);
  mkdirSync(join(dir, ASSETS), { recursive: true });
  const index = join(source, 'index.html');
  const html = readFileSync(index, 'utf8');
  if (!SCRIPT.test(html)) throw new Error(`${index} has no script main.tsx`);
  const { code, modules } = await pageScript(join(COMPILED, 'page', folder, 'main.js'));
  const licenses = licensesOf(modules);
  writeFileSync(join(dir, ASSETS, LICENSES), licenses.text);
  const write = (name: string, content: string | Buffer): string => {
    const path = `${ASSETS}/${hashedName(name, content)}`;
    writeFileSync(join(dir, path), content);
    return path;
  };
  const banner = `/*! Licenses of the packages inside: ${LICENSES} */\n`;
  const script = write('main.js', banner + (await minified(code, 'js')));
  const styles = [...html.matchAll(SHEETS)].map(([, name]) => join(source, name!));
  const css = styles.map((file) => readFileSync(file, 'utf8')).join('\n');
  const style = write('main.css', await minified(css, 'css'));
  const icons: string[] = [];
  const text = html
    .replace(SHEETS, '')
    .replace(ICONS, (_, before: string, name: string, behind: string) => {
      const file = join(source, name);
      icons.push(file);
      return before + write(basename(name), readFileSync(file)) + behind;
    })
    .replace(
      SCRIPT,
      `<link rel="stylesheet" href="${style}">\n<script type="module" src="${script}"></script>`,
    );
  writeFileSync(join(dir, 'index.html'), text);
  return [index, ...styles, ...icons, ...modules, ...licenses.files];
}

function hashedName(name: string, content: string | Buffer): string {
  const digest = createHash('sha256').update(content).digest('hex').slice(0, DIGEST_LETTERS);
  const end = extname(name);
  return `${basename(name, end)}-${digest}${end}`;
}

/** Licenses of the packages that have one of the modules. Throws for a package without one. */
function licensesOf(modules: readonly string[]): { text: string; files: readonly string[] } {
  const inPackages = modules.filter((file) => file.includes(`${sep}node_modules${sep}`));
  const folders = [...new Set(inPackages.map(packageFolder))].sort();
  const files = folders.map((folder) => join(folder, 'LICENSE'));
  const texts = files.map((file, at) => {
    const { name, version } = JSON.parse(
      readFileSync(join(folders[at]!, 'package.json'), 'utf8'),
    ) as { readonly name: string; readonly version: string };
    return `${name} ${version}\n\n${readFileSync(file, 'utf8').trim()}\n`;
  });
  return { text: texts.join('\n----\n\n'), files };
}

/** Folder of the package that a file belongs to: the nearest whose manifest has a version. */
function packageFolder(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string };
    if (version !== undefined) return folder;
  }
}
