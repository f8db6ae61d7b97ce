/**
 * Compiles the sources, and bundles the node and its pages, at most one process at a time. Knows whether sources
 * have changed since. Runs before anything is compiled, on every supported Node: hence JavaScript.
 *
 *   node build/compile.js     always builds; a bundle is made again where a file of it has changed
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, sep } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
/** Digests of the sources at the last build, by group. */
const MARK = join(DIST, '.sources');
/** Holds the id of the process that builds. */
const LOCK = join(DIST, '.building');
const POLL_MS = 100;

/** Sources of a program: folders, and files of the root. Tests belong to none. */
const COMMON = ['package.json', 'package-lock.json', 'tsconfig.json', 'build'];
const GROUPS = {
  /** Programs of the bundle. */
  node: [...COMMON, 'engine', 'storage', 'server', 'client'],
  /** Everything that runs beside a node. */
  tools: [...COMMON, 'engine', 'storage', 'server', 'client', 'examples', 'bench'],
};

/** @typedef {keyof typeof GROUPS} Group */

const COMPILER = 'node_modules/typescript/bin/tsc';
/** @type {readonly (readonly [script: string, ...args: string[]])[]} */
const STEPS = [[COMPILER], [COMPILER, '-p', 'server/page/app'], ['dist/build/bundle.js']];
/** Sources, those of the pages included. */
const SOURCE = /\.(?:[jt]sx?|css|html|json|svg)$/;

/**
 * @param {string} program its path below dist/, without extension
 * @returns {Group}
 */
export function groupOf(program) {
  return program.startsWith('node/') ? 'node' : 'tools';
}

/**
 * Returns true when the sources of a group are those of the last build.
 * @param {Group} group
 */
export function isBuilt(group) {
  return marks()[group] === digestOf(group);
}

/** Returns true once anything was built here. */
export function wasBuilt() {
  return Object.keys(marks()).length > 0;
}

/**
 * Builds, unless another process has just done that for this group. Returns the exit code of what failed, or 0.
 * @param {Group | undefined} group undefined = in any case
 * @param {() => void} onWait called when another process builds
 */
export function build(group, onWait = () => undefined) {
  mkdirSync(DIST, { recursive: true });
  const unlock = lock(onWait);
  try {
    if (group !== undefined && isBuilt(group)) return 0;
    // Before the compiler reads them: what changes meanwhile is built next time.
    const digests = { node: digestOf('node'), tools: digestOf('tools') };
    rmSync(MARK, { force: true });
    for (const [script, ...args] of STEPS) {
      // Standard output belongs to the program that runs afterwards.
      const { status } = spawnSync(process.execPath, [join(ROOT, script), ...args], {
        cwd: ROOT,
        stdio: ['ignore', 2, 2],
      });
      if (status !== 0) return status ?? 1;
    }
    writeMark(digests);
    return 0;
  } finally {
    unlock();
  }
}

/** Takes what lies in dist/ for the build of these sources. */
export function writeMark(digests = { node: digestOf('node'), tools: digestOf('tools') }) {
  writeFileSync(MARK, JSON.stringify(digests));
}

/** @returns {Readonly<Partial<Record<Group, string>>>} */
function marks() {
  try {
    return JSON.parse(readFileSync(MARK, 'utf8'));
  } catch {
    return {};
  }
}

/**
 * Names, sizes and times: a file that is removed or goes back in time counts too.
 * @param {Group} group
 */
function digestOf(group) {
  const hash = createHash('sha256');
  for (const name of GROUPS[group].flatMap(filesOf)) {
    const { mtimeMs, size } = statSync(join(ROOT, name));
    hash.update(`${name.split(sep).join('/')} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** @param {string} name a file or a folder of the root */
function filesOf(name) {
  const found = statSync(join(ROOT, name), { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [name];
  const names = readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' });
  return names
    .filter((file) => SOURCE.test(file))
    .sort()
    .map((file) => join(name, file));
}

/** @param {() => void} onWait */
function lock(onWait) {
  for (let isFirst = true; ; isFirst = false) {
    try {
      const file = openSync(LOCK, 'wx');
      writeFileSync(file, String(process.pid));
      closeSync(file);
      return () => rmSync(LOCK, { force: true });
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (!holderLives()) rmSync(LOCK, { force: true });
    else if (isFirst) onWait();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

function holderLives() {
  try {
    const pid = Number(readFileSync(LOCK, 'utf8'));
    // An empty file is that of a process that has just made it.
    return pid === 0 ? Date.now() - statSync(LOCK).mtimeMs < 1_000 : process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

if (process.argv[1] === import.meta.filename) process.exitCode = build(undefined);
