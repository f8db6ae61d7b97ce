import assert from 'node:assert/strict';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import test from 'node:test';
import { authData } from '../../client/typed-data.ts';
import { Wallet } from '../../client/wallet.ts';
import { openPackage, recoverAddress, signatureLibrary } from '../../server/auth/secp256k1.ts';
import {
  givesKnownAnswers,
  openSystemLibrary,
  type Recovery,
} from '../../server/auth/system-secp256k1.ts';
import { startThread } from '../common/forms.ts';
import { freshSeed, Random } from '../common/random.ts';

const SIGNATURES = 400;
const system = openSystemLibrary();
const skip = system === undefined ? 'libsecp256k1 or koffi is not installed' : false;
const packaged = openPackage();

/** A signature of a new wallet over a new digest. */
function signed(name: string): { digest: Uint8Array; signature: Uint8Array } {
  const wallet = Wallet.fromSeed(name);
  const data = authData(137, wallet.address, '1750000000', '0');
  const signature = Uint8Array.from(Buffer.from(wallet.sign(data).slice(2), 'hex'));
  signature[64]! -= 27;
  return { digest: data.digest, signature };
}

/** The recovered key in hex; '' for none. */
function keyOf({ recover }: Recovery, compact: Uint8Array, v: number, digest: Uint8Array): string {
  const key = new Uint8Array(65);
  return recover(compact, v, digest, key) ? Buffer.from(key).toString('hex') : '';
}

test('the system library and the package recover equal keys and refuse the same signatures', {
  skip,
}, () => {
  const seed = freshSeed();
  const random = new Random(seed);
  const again = `reproduce with: SEED=${seed}`;
  let recovered = 0;
  for (let i = 0; i < SIGNATURES; i += 1) {
    const { digest, signature } = signed(`${seed} ${i}`);
    // Half of them with one byte changed: some have no key, some that of nobody.
    if (i % 2 === 1) signature[random.below(64)] = random.pick([0, 255, random.below(256)]);
    if (i % 16 === 3) signature.fill(random.pick([0, 255]), 32 * (i % 32 === 3 ? 1 : 0), 40);
    const compact = signature.subarray(0, 64);
    for (const v of [0, 1]) {
      const expected = keyOf(packaged, compact, v, digest);
      assert.equal(keyOf(system!, compact, v, digest), expected, again);
      if (expected !== '') recovered += 1;
    }
  }
  assert(recovered > SIGNATURES && recovered < 2 * SIGNATURES, again);
});

test('both libraries give the known answers, and one that gives others is not used', () => {
  for (const recovery of [packaged, ...(system === undefined ? [] : [system])]) {
    assert.equal(givesKnownAnswers(recovery), true, recovery.library);
    const isLax: Recovery = { ...recovery, recover: (...all) => recovery.recover(...all) || true };
    const isBlind: Recovery = { ...recovery, recover: () => false };
    const ignoresV: Recovery = {
      ...recovery,
      recover: (compact, _, ...others) => recovery.recover(compact, 0, ...others),
    };
    for (const wrong of [isLax, isBlind, ignoresV]) assert.equal(givesKnownAnswers(wrong), false);
  }
  assert.equal(openSystemLibrary([tmpdir()]), undefined);
});

test('a signature in memory that threads share is recovered', () => {
  const { digest, signature } = signed('shared');
  const ofThreads = (bytes: Uint8Array): Uint8Array => {
    const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
    copy.set(bytes);
    return copy;
  };
  const [shared, own] = [new Uint8Array(20), new Uint8Array(20)];
  assert.equal(recoverAddress(ofThreads(digest), ofThreads(signature), shared, 0), true);
  assert.equal(recoverAddress(digest, signature, own, 0), true);
  assert.deepEqual(shared, own);
});

test('two threads recover at the same time with the library of the main thread', async () => {
  const answers = await Promise.all(
    [1, 2].map(async () => {
      const thread = startThread('auth/recovering-thread', undefined);
      const [answer] = (await once(thread, 'message')) as [{ readonly answers: unknown[] }];
      await thread.terminate();
      return answer;
    }),
  );
  assert.equal(answers[0]!.answers.length, 1);
  const expected = { signatureLibrary, answers: answers[0]!.answers };
  assert.deepEqual(answers, [expected, expected]);
});
