import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import type { PeerSecrets } from '../../server/cluster/peers/secure.ts';
import {
  decodeSecretRecord,
  encodeSecretRecord,
  hasSecretOf,
  nextSecretRecord,
  type SecretRecord,
} from '../../server/cluster/secret-record.ts';

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string];

/** Constant in all versions, whose nodes compare it. */
const LABEL = 'CLUSTER_SECRET of a prediction market cluster, version 1';

function digestOfSecret(secret: string): string {
  return createHmac('sha256', secret).update(LABEL).digest('hex');
}

function own(current: string, previous = ''): PeerSecrets {
  return { current, previous };
}

function record(current: string, previous?: string): SecretRecord {
  const digest = previous === undefined ? undefined : digestOfSecret(previous);
  return { current: digestOfSecret(current), previous: digest };
}

const CASES: readonly {
  readonly of: string;
  readonly found: SecretRecord | undefined;
  readonly own: PeerSecrets;
  readonly isOf: boolean;
  readonly next: SecretRecord | undefined;
}[] = [
  { of: 'no record', found: undefined, own: own(A), isOf: true, next: record(A) },
  { of: 'the same secret', found: record(A), own: own(A), isOf: true, next: undefined },
  { of: 'another secret', found: record(A), own: own(B), isOf: false, next: undefined },
  { of: 'two other secrets', found: record(A), own: own(B, C), isOf: false, next: undefined },
  { of: 'the new secret', found: record(A), own: own(B, A), isOf: true, next: record(B, A) },
  { of: 'both secrets', found: record(B, A), own: own(B, A), isOf: true, next: undefined },
  { of: 'the old secret', found: record(B, A), own: own(A), isOf: true, next: undefined },
  { of: 'the new one alone', found: record(B, A), own: own(B), isOf: true, next: record(B) },
  { of: 'the old one too late', found: record(B), own: own(A), isOf: false, next: undefined },
  {
    of: 'a change taken back',
    found: record(B, A),
    own: own(A, B),
    isOf: true,
    next: record(A, B),
  },
  { of: 'a mistyped secret', found: record(C, A), own: own(B, A), isOf: true, next: record(B, A) },
];

for (const { found, isOf, next, of, own: secrets } of CASES) {
  test(`a node with ${of} ${isOf ? 'is' : 'is not'} of the cluster`, () => {
    if (found !== undefined) assert.equal(hasSecretOf(found, secrets), isOf);
    assert.deepEqual(nextSecretRecord(found, secrets), next);
  });
}

test('a record reads back as it was written, contains no secret, and no other value is a record', () => {
  const bytes = encodeSecretRecord(record(A, B));
  assert.deepEqual(decodeSecretRecord(bytes), record(A, B));
  assert(!bytes.includes(A) && !bytes.includes(B));
  for (const text of ['', 'x', 'null', '{}', '{"current":"x"}', `{"current":"${A}"}`]) {
    assert.equal(decodeSecretRecord(Buffer.from(text)), undefined, text);
  }
});
