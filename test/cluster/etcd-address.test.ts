import assert from 'node:assert/strict';
import test from 'node:test';
import { parseEtcdAddress } from '../../storage/replicated-log/etcd-address.ts';

const WRONG: Readonly<Record<string, RegExp>> = {
  '': /must look like etcd:\/\/host:2379/,
  'http://a:1/x': /must look like/,
  'etcd://a:2379': /must look like/,
  'etcd:///x': /'' is not a host and a port/,
  'etcd://a/x': /'a' is not a host and a port/,
  'etcd://a:0/x': /'a:0' is not/,
  'etcd://a:65536/x': /'a:65536' is not/,
  'etcd://a:2379,,b:2379/x': /'' is not/,
  'etcd://a:2379, b:2379/x': /' b:2379' is not/,
  'etcd://user:word@a:2379/x': /is not a host and a port/,
  'etcd://a:2379,a:2379/x': /'a:2379' is there twice/,
  'etcd://a:2379/': /'' is no name/,
  'etcd://a:2379/x/y': /'x\/y' is no name/,
  'etcd://a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9,a:10/x': /at most 9 members/,
};

test('an address names the members and the venue', () => {
  assert.deepEqual(parseEtcdAddress('etcd://10.0.0.1:2379,etcd-2.example:2379,[::1]:9/main'), {
    members: ['10.0.0.1:2379', 'etcd-2.example:2379', '[::1]:9'],
    name: 'main',
    isSecure: false,
  });
  assert.deepEqual(parseEtcdAddress('etcds://a:1/a.b-c_d'), {
    members: ['a:1'],
    name: 'a.b-c_d',
    isSecure: true,
  });
});

test('a wrong address is refused with its fault', () => {
  for (const [text, expected] of Object.entries(WRONG)) {
    const said = parseEtcdAddress(text);
    assert(typeof said === 'string', text);
    assert.match(said, expected);
  }
});
