import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { clientAddress, normaliseAddress, parseAllowlist } from '../../server/http/address.ts';

function allowlist(text: string) {
  const parsed = parseAllowlist(text);
  assert(parsed.ok, text);
  return parsed.value;
}

test('every spelling of an address becomes the same text', () => {
  for (const [text, expected] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1'],
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:0:192.0.2.1', '::ffff:0:c000:201'],
  ] as const) {
    assert.equal(normaliseAddress(text), expected, text);
    assert.equal(normaliseAddress(expected), expected, 'a normalised address stays');
  }
});

test('text that is no address becomes empty', () => {
  const texts = ['', ' ', 'localhost', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', '1.2.3.4 '];
  for (const text of [...texts, '::g', '1::2::3', '[::1]', '1.2.3.4/8', '::ffff:1.2.3.999']) {
    assert.equal(normaliseAddress(text), '', text);
  }
});

test('the header of a caller is ignored without trusted hops', () => {
  assert.equal(clientAddress('192.0.2.9', '203.0.113.5', 0), '192.0.2.9');
  assert.equal(clientAddress('::ffff:192.0.2.9', '', 0), '192.0.2.9');
});

test('the caller is the N-th entry from the right with N trusted hops', () => {
  const chain = '198.51.100.1, 203.0.113.5,::ffff:10.0.0.2';
  assert.equal(clientAddress('10.0.0.1', chain, 1), '10.0.0.2');
  assert.equal(clientAddress('10.0.0.1', chain, 2), '203.0.113.5');
  assert.equal(clientAddress('10.0.0.1', chain, 3), '198.51.100.1');
});

test('entries that a caller puts in front do not move the caller', () => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31));
  const forged = Array.from({ length: 1 + (seed % 40) }, (_, i) => `10.9.${i}.${seed % 256}`);
  const chain = [...forged, '203.0.113.5', '10.0.0.2'].join(', ');
  assert.equal(clientAddress('10.0.0.1', chain, 2), '203.0.113.5', `SEED=${seed}`);
});

test('ports and brackets of an entry are dropped', () => {
  assert.equal(clientAddress('10.0.0.1', '203.0.113.5:4711', 1), '203.0.113.5');
  assert.equal(clientAddress('10.0.0.1', '[2001:DB8::5]:4711', 1), '2001:db8::5');
  assert.equal(clientAddress('10.0.0.1', '[2001:db8::5]', 1), '2001:db8::5');
});

test('a direct call to a port that expects proxies has the address of its peer', () => {
  assert.equal(clientAddress('192.0.2.9', '', 2), '192.0.2.9');
});

test('a caller that the header does not name is unknown, never the proxy', () => {
  assert.equal(clientAddress('10.0.0.1', '203.0.113.5', 2), '');
  assert.equal(clientAddress('10.0.0.1', 'unknown', 1), '');
  assert.equal(clientAddress('10.0.0.1', '203.0.113.5,', 1), '');
  assert.equal(clientAddress('10.0.0.1', '[2001:db8::5', 1), '');
});

test('an empty allow-list allows everyone, also unknown callers', () => {
  for (const text of ['', '  ']) {
    for (const address of ['192.0.2.1', '::1', '']) {
      assert.equal(allowlist(text).allows(address), true);
    }
  }
});

test('addresses and ranges of both families are allowed, their neighbours are not', () => {
  const list = allowlist(' 192.0.2.1, 10.1.2.3/8 ,2001:db8::/32,::1, 198.51.100.0/31 ');
  assert.equal(list.entries.length, 5);
  const inside = ['192.0.2.1', '10.0.0.0', '10.255.255.255', '2001:db8::', '2001:db8:ffff::1'];
  for (const address of [...inside, '::1', '198.51.100.0', '198.51.100.1']) {
    assert.equal(list.allows(address), true, address);
  }
  const outside = ['192.0.2.0', '192.0.2.2', '9.255.255.255', '11.0.0.0', '2001:db9::', '::2'];
  for (const address of [...outside, '::', '198.51.100.2', '', 'nonsense', '2001:db7:ffff::']) {
    assert.equal(list.allows(address), false, address);
  }
});

test('a range of everything covers its own family only', () => {
  assert.equal(allowlist('0.0.0.0/0').allows('203.0.113.5'), true);
  assert.equal(allowlist('0.0.0.0/0').allows('2001:db8::1'), false);
  assert.equal(allowlist('::/0').allows('2001:db8::1'), true);
  assert.equal(allowlist('::/0').allows('203.0.113.5'), false);
});

test('entries in mapped form count as IPv4', () => {
  assert.equal(allowlist('::ffff:10.0.0.0/104').allows('10.9.9.9'), true);
  assert.equal(allowlist('::ffff:10.0.0.0/104').allows('11.0.0.1'), false);
  assert.equal(allowlist('::ffff:192.0.2.1').allows('192.0.2.1'), true);
  assert.equal(parseAllowlist('::ffff:10.0.0.0/8').ok, false);
});

test('a malformed list is refused and the entry named', () => {
  const malformed = ['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/08', 'a.b'];
  for (const entry of [...malformed, '1.2.3.4/8/8', 'fe80::1%eth0', '1.2.3.4-9', '10.0.0.0/1e1']) {
    const parsed = parseAllowlist(`192.0.2.1,${entry}`);
    assert(!parsed.ok, entry);
    assert(parsed.detail.includes(JSON.stringify(entry)), parsed.detail);
  }
  assert.equal(parseAllowlist('192.0.2.1,,192.0.2.2').ok, false);
});
