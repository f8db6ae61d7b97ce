/**
 * The recipes of docs/recipes as they stand; left out where the system's Python lacks their
 * packages.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from '../common/root.ts';
import { node, nodeUrl } from './stage.ts';

const RECIPE = join(ROOT, 'docs/recipes/place_order.py');
const IMPORTS = 'import ecdsa, requests\nfrom Cryptodome.Hash import keccak';
/** Pythons: packages of the system belong to the second one. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', IMPORTS], { stdio: 'ignore' }).status === 0,
);
const LINES_MAX = 60;

test('an order is placed, read and cancelled by sixty lines of Python', {
  skip: PYTHON === undefined && 'no python3 with ecdsa, pycryptodome and requests',
}, async () => {
  assert.equal(readFileSync(RECIPE, 'utf8').trimEnd().split('\n').length, LINES_MAX);
  const env = { ...process.env, NO_PROXY: '127.0.0.1', PYTHONDONTWRITEBYTECODE: '1' };
  // A wallet of its own, and one whose key is given.
  for (const key of [{}, { PRIVATE_KEY: `0x${'1'.repeat(64)}` }]) {
    const { stdout } = await promisify(execFile)(PYTHON!, [RECIPE, nodeUrl], {
      env: { ...env, ...key },
    });
    assert.equal(stdout, "order: live\nopen: [('5', '0.01')]\ncanceled: True\n");
  }
  const wrong = spawnSync(PYTHON!, [RECIPE, `${nodeUrl}/nowhere`], { env, encoding: 'utf8' });
  assert.notEqual(wrong.status, 0);
  assert(!node.hasEnded);
});
