/** The HMAC of a request is that of node:crypto, whatever its parts are. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { requestMac } from '../../server/auth/request-mac.ts';
import { withSeed } from '../common/random.ts';

const CHARACTERS = ['a', '/', '0', 'é', '€', '😀', '\ud800'];

test('the HMAC of a request is that of node:crypto for any secret, text and body', () => {
  withSeed((random) => {
    const bytes = (length: number): Buffer =>
      Buffer.from(Array.from({ length }, () => random.below(256)));
    for (let i = 0; i < 2_000; i++) {
      const secret = bytes(random.below(65));
      const signed = Array.from({ length: random.below(120) }, () => random.pick(CHARACTERS));
      const body = bytes(random.below(random.pick([1, 200, 1_000, 20_000])));
      const expected = createHmac('sha256', secret).update(signed.join('')).update(body).digest();
      assert.deepEqual(requestMac(secret, signed.join(''), body), expected);
    }
  });
});
