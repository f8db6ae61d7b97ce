import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readConfig } from '../../server/config/config.ts';
import {
  connectionBounds,
  openFilesWarning,
  readLimit,
} from '../../server/http/limits/open-files.ts';
import { ROOT } from '../common/root.ts';

test('connections leave file descriptors for other uses, at any limit of the process', () => {
  const text =
    'Limit   Soft Limit  Hard Limit Units\nMax open files            20000    20000   files\n';
  assert.equal(readLimit(text), 20_000);
  assert.equal(readLimit('Max open files            unlimited    unlimited   files'), 2 ** 30);
  const wanted = {
    connectionsMax: 65_536,
    connectionsPerAddress: 2_048,
    connectionsOpenedPerSecond: 1_000,
    rateLimits: true,
    trustProxy: 0,
  };
  const perAddress = { open: 2_048, openedPerSecond: 1_000 };
  assert.deepEqual(connectionBounds(wanted, 20_000), { all: 19_488, perAddress });
  assert.deepEqual(connectionBounds(wanted, 2 ** 30).all, 65_536);
  const small = { open: 256, openedPerSecond: 1_000 };
  assert.deepEqual(connectionBounds(wanted, 1_024), { all: 512, perAddress: small });
  const proxied = { ...wanted, trustProxy: 1 };
  assert.deepEqual(connectionBounds(proxied, 20_000), { all: 19_488, perAddress: undefined });
});

test('a limit of open files below the bound of connections is named with the limit that is needed', () => {
  const wanted = { connectionsMax: 65_536 };
  assert.equal(openFilesWarning(wanted, 66_048), undefined);
  assert.equal(
    openFilesWarning(wanted, 66_047),
    '66047 open files (ulimit -n) allow 65535 connections, not CONNECTIONS_MAX=65536: ' +
      'raise the limit to 66048, or lower the setting',
  );
  assert.match(openFilesWarning(wanted, 1_024)!, /^1024 open files \(ulimit -n\) allow 512 /);
});

test('the units for systemd and containers allow the files that the default bounds need', () => {
  const read = readConfig({}, [], 2);
  assert(read.ok);
  for (const [file, setting] of [
    ['prediction-market-node.service', /^LimitNOFILE=(\d+)$/m],
    ['compose.yaml', /^ +nofile: (\d+)$/m],
    ['cluster.yaml', /^ +nofile: (\d+)$/m],
  ] as const) {
    const text = readFileSync(join(ROOT, 'server/deploy', file), 'utf8');
    const files = Number(setting.exec(text)?.[1]);
    assert.equal(openFilesWarning(read.config, files), undefined, file);
  }
});
