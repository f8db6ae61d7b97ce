import assert from 'node:assert/strict';
import test from 'node:test';
import { RedirectRefused, redirectTarget } from '../../server/common/redirects.ts';

const FOLLOWED: readonly (readonly [from: string, location: string, to: string])[] = [
  ['http://a.example/markets', '/v2/markets?x=1', 'http://a.example/v2/markets?x=1'],
  ['http://a.example:8080/a', 'http://a.example:8080/b', 'http://a.example:8080/b'],
  ['http://a.example/a', 'http://A.EXAMPLE:80/b', 'http://a.example/b'],
  ['http://a.example/a', 'https://a.example/a', 'https://a.example/a'],
  ['http://a.example:8080/a', 'https://a.example:8443/a', 'https://a.example:8443/a'],
  ['https://a.example/a', '//a.example/b#part', 'https://a.example/b'],
  ['http://a.example/a', 'http://name:word@a.example/b', 'http://a.example/b'],
  ['ws://a.example/ws', '/other', 'ws://a.example/other'],
  ['ws://a.example/ws', 'https://a.example/ws', 'wss://a.example/ws'],
  ['ws://a.example/ws', 'http://a.example/other', 'ws://a.example/other'],
  ['wss://a.example/ws', 'wss://a.example/other', 'wss://a.example/other'],
];

const REFUSED: readonly (readonly [from: string, location: string])[] = [
  ['http://a.example/', 'http://b.example/'],
  ['http://a.example/', 'https://b.example/'],
  ['http://a.example/', 'http://www.a.example/'],
  ['http://a.example/', 'http://a.example.b.example/'],
  ['http://a.example/', 'http://a.example@b.example/'],
  ['http://a.example/', '//b.example/'],
  ['http://a.example/', 'http://a.example:3001/'],
  ['https://a.example/', 'https://a.example:8443/'],
  ['https://a.example/', 'http://a.example/'],
  ['wss://a.example/', 'ws://a.example/'],
  ['http://127.0.0.1:3000/', 'http://localhost:3000/'],
  ['http://127.0.0.1:3000/', 'http://[::1]:3000/'],
  ['http://a.example/', 'file:///etc/passwd'],
  ['http://a.example/', 'javascript:1'],
  ['http://a.example/', 'http://'],
];

test('a redirect leads to the same host, with http to https alone as another scheme', () => {
  for (const [from, location, to] of FOLLOWED) assert.equal(redirectTarget(from, location, 0), to);
  for (const [from, location] of REFUSED) {
    assert.throws(() => redirectTarget(from, location, 0), RedirectRefused, `${from} ${location}`);
  }
});

test('the number of redirects is bounded', () => {
  let at = 'http://a.example/0';
  for (let count = 0; count < 5; count++) at = redirectTarget(at, `/${count}`, count);
  assert.throws(() => redirectTarget(at, '/5', 5), /redirects without end/);
});
