/**
 * Single entry point to the package uWebSockets.js: loads its native file, on every glibc from 2.36 on.
 *
 * Thread: I/O, once, at start. The plain package comes first. Only where the loader misses glibc 2.38, a
 * patched copy (uws-patch.ts) from a cache directory takes its place. Not here: routes, requests, sockets;
 * those are in http.ts.
 */

import type { ListenOptions, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { PINS, patchedBinary, sha256 } from './uws-patch.ts';

export type {
  HttpRequest,
  HttpResponse,
  us_listen_socket,
  us_socket_context_t,
  WebSocket,
} from 'uWebSockets.js';

/** `listen` with host and options together, and a time-out that 20.57.0 has but does not declare. */
export interface UwsApp extends Omit<TemplatedApp, 'listen'> {
  listen(
    host: string,
    port: number,
    options: ListenOptions,
    done: (socket: us_listen_socket | false) => void,
  ): unknown;
  /** Time-out of connections without a request yet, and of bodies; answered connections have another. */
  setIdleTimeout(seconds: number): unknown;
}

interface Uws {
  App(): UwsApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  /** Without it a second process could share the port silently. */
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: ListenOptions;
}

const require = createRequire(import.meta.url);

const CACHE_FOLDER = 'prediction-market-node';

/**
 * Bytes of all headers of one request. The native default, 4096, is too near to the five credential headers
 * plus additions of a proxy, and its refusal is not JSON.
 */
const HEADER_BYTES_MAX = '16384';

const ADVICE =
  'Run "npm ci" to restore the published files, or use Node 24, 22 or 20 on Linux with glibc 2.38 ' +
  'or newer (Debian 13, Ubuntu 24.04).';

/** Loaded once: a second load would free its event loop twice, and crash at the end of the process. */
let loaded: Uws | undefined;

/** Returns the package, loaded on first use. Throws an Error with instructions when no file fits. */
export function loadUws(): Uws {
  loaded ??= load();
  return loaded;
}

/** Loads by `require`: Node 20 reports a failed `import` of this package again, outside of any catch. */
function load(): Uws {
  // The native file reads this variable while it is loaded.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ||= HEADER_BYTES_MAX;
  try {
    return require('uWebSockets.js') as Uws;
  } catch (error) {
    const reason = String(error);
    if (reason.includes("`GLIBC_2.38' not found")) return loadPatched();
    const { arch, platform, versions } = process;
    if (
      reason.includes(`Cannot find module './uws_${platform}_${arch}_${versions.modules}.node'`)
    ) {
      throw new Error(
        `uWebSockets.js, the HTTP library, has no build for Node ${versions.node} on ${platform} ${arch}: ` +
          'use Node 24 (22, and 20 from 20.19 on, work too)',
      );
    }
    throw new Error(`cannot load uWebSockets.js. ${ADVICE} The loader said: ${reason}`);
  }
}

function loadPatched(): Uws {
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const failures = new Set<string>();
  try {
    return open(cachedCopy(name));
  } catch (error) {
    failures.add(messageOf(error));
  }
  let folder: string | undefined;
  try {
    // A new folder that only this user may enter: nobody else can place a file there.
    folder = mkdtempSync(join(tmpdir(), `${CACHE_FOLDER}-`));
    return open(writtenCopy(folder, name));
  } catch (error) {
    failures.add(messageOf(error));
  } finally {
    // A loaded file stays mapped after its name is removed.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  const reasons = [...failures].join('; ');
  throw new Error(`cannot load a patched copy of uWebSockets.js: ${reasons}. ${ADVICE}`);
}

function cachedCopy(name: string): string {
  const setting = process.env.XDG_CACHE_HOME;
  const root = setting && isAbsolute(setting) ? setting : join(homedir(), '.cache');
  const folder = join(root, CACHE_FOLDER);
  const path = join(folder, copyName(name));
  if (!holds(path, PINS.get(name)?.result)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writtenCopy(folder, name);
  }
  return path;
}

/** The version is part of the name: installations of different ages may share a cache. */
function copyName(name: string): string {
  return `${PINS.get(name)?.result.slice(0, 16)}-${name}`;
}

function holds(path: string, hash: string | undefined): boolean {
  try {
    return sha256(readFileSync(path)) === hash;
  } catch {
    return false; // not there yet, or unreadable: both are mended by writing it
  }
}

/** Writes the patched copy under a temporary name first: a reader never sees half of it. */
function writtenCopy(folder: string, name: string): string {
  const published = dirname(require.resolve('uWebSockets.js'));
  const patched = patchedBinary(name, readFileSync(join(published, name)));
  if (!patched.ok) throw new Error(patched.detail);
  const path = join(folder, copyName(name));
  const draft = join(folder, `${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, patched.bytes, { mode: 0o600 });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return path;
}

/** Binds every symbol at once: a symbol missing in a patched file fails here and not in the first call. */
function open(path: string): Uws {
  const holder: { exports: unknown } = { exports: {} };
  process.dlopen(holder, path, constants.dlopen.RTLD_NOW);
  return holder.exports as Uws;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
