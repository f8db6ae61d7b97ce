import assert from 'node:assert/strict';
import test from 'node:test';
import { readConfig } from '../../server/config/config.ts';
import { PROFILES } from '../../server/config/kinds.ts';
import { PROFILE_ROWS } from '../../server/config/profile.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { handlersOf } from '../../server/http/route.ts';
import { NODE_ROUTES, NodeInfo, type NodeInfoParts } from '../../server/routes/node-info.ts';

function settings(env: Readonly<Record<string, string>>) {
  const read = readConfig(env, [], 2);
  assert(read.ok);
  return read.config;
}

function setting(text: string): string | number | boolean {
  if (/^[0-9]+$/.test(text) && text.length > 1) return Number(text);
  return text === 'on' || text === 'off' ? text === 'on' : text;
}

test('a profile sets every row of the table', () => {
  for (const profile of PROFILES) {
    const config = settings({ CLIENT_PROFILE: profile });
    assert.equal(config.clientProfile, profile);
    for (const [name, row] of PROFILE_ROWS) assert.equal(config[name], setting(row[profile]), name);
  }
});

test('each row can be set alone, in either direction', () => {
  for (const [profile, other] of [PROFILES, PROFILES.toReversed()]) {
    for (const [name, row] of PROFILE_ROWS) {
      const config = settings({ CLIENT_PROFILE: profile!, [row.variable]: row[other!] });
      for (const [each, { [profile!]: usual }] of PROFILE_ROWS) {
        const expected = each === name ? row[other!] : usual;
        assert.equal(config[each], setting(expected), `${row.variable}: ${each}`);
      }
    }
  }
});

test('orders are signed in version 1 unless the node takes the other one alone', () => {
  for (const [ORDER_VERSION, version] of [
    ['1', 1],
    ['both', 1],
    ['2', 2],
  ] as const) {
    let body = '';
    const exchange = { reply: (_: number, text: string) => (body = text) };
    const parts = { config: settings({ ORDER_VERSION }) };
    const handlers = handlersOf(NODE_ROUTES, new NodeInfo(parts as unknown as NodeInfoParts));
    handlers['GET /version'](exchange as unknown as RequestContext, {}, undefined);
    assert.deepEqual(JSON.parse(body), { version });
  }
});

test('the profiles differ in every row, and no two rows share a variable', () => {
  for (const [name, row] of PROFILE_ROWS) assert.notEqual(row.spec, row.polymarket, name);
  assert.equal(new Set(PROFILE_ROWS.map(([, { variable }]) => variable)).size, PROFILE_ROWS.length);
});
