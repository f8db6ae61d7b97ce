/**
 * The entry point to uWebSockets.js: the patch for older glibc, its cache, and the first request.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadUws, type us_listen_socket } from '../../server/http/uws.ts';
import { PINS, patchedBinary, sha256 } from '../../server/http/uws-patch.ts';
import { scriptArgs } from '../common/forms.ts';
import { ROOT } from '../common/root.ts';

const PACKAGE = pathToFileURL(join(ROOT, 'node_modules/uWebSockets.js/'));

const published = (name: string) => readFileSync(new URL(name, PACKAGE));

/** [major, minor] of this machine's glibc, [0, 0] where there is none. */
function glibc(): readonly [number, number] {
  const found = spawnSync('getconf', ['GNU_LIBC_VERSION'], { encoding: 'utf8' });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(found.stdout ?? '') ?? [];
  return [Number(major ?? 0), Number(minor ?? 0)];
}

const [major, minor] = glibc();
const isNew = major > 2 || (major === 2 && minor >= 38);
const onlyNew = isNew ? false : `glibc ${major}.${minor} is older than 2.38`;
const onlyOld = isNew ? 'glibc is new enough for the published file' : false;

/** Loads the package in a process with a cache of its own. */
function loadElsewhere(cache: string, temporary: string): string {
  const script = `const { loadUws } = await import('./server/http/uws.ts');
    console.log(typeof loadUws().App, process.env.UWS_HTTP_MAX_HEADERS_SIZE);`;
  const env = { ...process.env, XDG_CACHE_HOME: cache, TMPDIR: temporary };
  const { args, cwd } = scriptArgs(script);
  return execFileSync(process.execPath, args, { cwd, env, encoding: 'utf8' }).trim();
}

function inFolder(body: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'uws-test-'));
  try {
    body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the error names a version of Node without a build of the library, and one with it', () => {
  const script = `
    const versions = { ...process.versions, node: '26.10.0', modules: '147' };
    Object.defineProperty(process, 'versions', { value: versions });
    const { loadUws } = await import('./server/http/uws.ts');
    try { loadUws(); } catch (error) { console.log(error.message); }`;
  const { args, cwd } = scriptArgs(script);
  const said = execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
  assert.match(said, /has no build for Node 26\.10\.0 on \w+ \w+: use Node 24 /);
});

test('a raw request with SERVICE_ADDRESS reaches the handler', async () => {
  const uws = loadUws();
  const app = uws.App();
  let seen = '';
  app.get('/', (response, request) => {
    seen = request.getHeader('service_address');
    response.end('ok');
  });
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  assert(socket !== false);
  const client = connect(uws.us_socket_local_port(socket), '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: node\r\nSERVICE_ADDRESS: 0xAbC\r\n\r\n');
  const [answer] = await once(client, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(seen, '0xAbC');
  client.destroy();
  app.close();
});

test('every pinned file is patched to its pinned result, in which only imports get their old names', () => {
  assert.equal(PINS.size, 6);
  for (const [name, pin] of PINS) {
    const source = published(name);
    const patched = patchedBinary(name, source);
    assert(patched.ok, name);
    assert.equal(sha256(patched.bytes), pin.result);
    assert.equal(sha256(source), pin.source, 'the source is left alone');
    assert.equal(patched.bytes.length, source.length);
    const changed = source.filter((byte, at) => byte !== patched.bytes[at]).length;
    // One hash and one name offset of a version, and one name offset for each import.
    assert(2 <= changed && changed <= 4 + 4 + 3 * 4, `${name}: ${changed} bytes`);
  }
});

test('a file with one changed byte is refused with both hashes', () => {
  const [name, pin] = [...PINS][0]!;
  const source = published(name);
  source[source.length >> 1]! ^= 1;
  const patched = patchedBinary(name, source);
  assert(!patched.ok);
  assert(patched.detail.includes(name) && patched.detail.includes(pin.source), patched.detail);
  assert(patched.detail.includes(sha256(source)), patched.detail);
});

test('a file without a pinned hash is refused', () => {
  const patched = patchedBinary('uws_linux_x64_999.node', Buffer.alloc(64));
  assert(!patched.ok);
  assert.match(patched.detail, /uws_linux_x64_999\.node/);
});

test('a newer glibc loads the published file and writes no cache', { skip: onlyNew }, () => {
  inFolder((cache) => {
    assert.equal(loadElsewhere(cache, cache), 'function 16384');
    assert.deepEqual(readdirSync(cache), []);
  });
});

test('an older glibc loads a copy from the cache, which is kept and repaired', {
  skip: onlyOld,
}, () => {
  inFolder((cache) => {
    assert.equal(loadElsewhere(cache, cache), 'function 16384');
    const folder = join(cache, 'prediction-market-node');
    const [file, ...others] = readdirSync(folder);
    assert(file !== undefined);
    assert.deepEqual(others, [], 'no draft is left over');
    const path = join(folder, file);
    const written = statSync(path).mtimeMs;
    const results = [...PINS.values()].map((pin) => pin.result);
    assert(results.includes(sha256(readFileSync(path))));

    loadElsewhere(cache, cache);
    assert.equal(statSync(path).mtimeMs, written, 'a good copy is not written again');

    writeFileSync(path, 'not a library');
    assert.equal(loadElsewhere(cache, cache), 'function 16384');
    assert(results.includes(sha256(readFileSync(path))));
  });
});

test('a private copy is used and removed without a usable cache', { skip: onlyOld }, () => {
  inFolder((temporary) => {
    const notAFolder = join(temporary, 'file');
    writeFileSync(notAFolder, '');
    assert.equal(loadElsewhere(notAFolder, temporary), 'function 16384');
    const left = readdirSync(temporary).filter((name) => name.startsWith('prediction-market-node'));
    assert.deepEqual(left, []);
  });
});
