/** Digests and call data of signed batches, against published signatures and against ethers. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { recoverAddress } from '../../server/auth/secp256k1.ts';
import { bytesToHex } from '../../server/common/uint256.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { type BatchBody, signedBatch } from '../../server/relayer/signed-batch.ts';
import { addressByEthers } from '../common/ethers.ts';
import { freshSeed, Random, rounds } from '../common/random.ts';
import {
  type BatchTerms,
  batch,
  type Call,
  CONDITIONAL,
  call,
  type Kind,
  walletOf,
} from './batches.ts';

/** A key that everybody knows. */
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const OWNER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const USDC = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
const PROXY_FACTORY = PROFILE_TABLE.proxyWalletFactory.polymarket.slice(0, 42).toLowerCase();
const APPROVAL = call(USDC, 'approve(address,uint256)', CONDITIONAL, 2n ** 256n - 1n);

function signerOf(body: unknown, chainId = 137) {
  const signed = signedBatch(body as BatchBody, chainId, PROXY_FACTORY);
  assert(!('code' in signed), JSON.stringify(signed));
  const signer = new Uint8Array(20);
  const isSigned = recoverAddress(signed.digest, signed.signature, signer, 0);
  return { ...signed, signer: isSigned ? bytesToHex(signer, 0, 20) : undefined };
}

const dataOf = (
  calls: readonly { readonly target: string; readonly data: string | Uint8Array }[],
) =>
  calls.map(({ data, target }) => [
    target.toLowerCase(),
    typeof data === 'string' ? data : bytesToHex(data, 0, data.length),
  ]);

test('published signatures of a safe and of a proxy wallet are those of their owner', async () => {
  const safe = await batch('SAFE', KEY, { nonce: 0, calls: [APPROVAL] });
  assert.equal(
    safe.signature,
    '0xf368488355b0566e99eff3bccc35e98b77d8f3a6e6866176188488c34f0305b07e4a4c600c7a1592e4ac1e96b5887ebff2cb26987a3ad501006b39944df098c21f',
  );
  assert.equal(signerOf(safe).signer, OWNER.toLowerCase());
  const relay = '0xae700edfd9ab986395f3999fe11177b9903a52f1';
  const proxy = await batch('PROXY', KEY, {
    nonce: 0,
    calls: [APPROVAL],
    relay,
    gasLimit: '85338',
  });
  assert.equal(
    proxy.signature,
    '0x4c18e2d2294a00d686714aff8e7936ab657cb4655dfccb2b556efadcb7e835f800dc2fecec69c501e29bb36ecb54b4da6b7c410c4dc740a33af2afde2b77297e1b',
  );
  assert.equal(signerOf(proxy).signer, OWNER.toLowerCase());
  assert.equal(walletOf('WALLET', OWNER), '0xBc0fF067b7740Eff76C1ca93c875Ba6B890d6B50');
  assert.equal(walletOf('SAFE', OWNER), '0xd93B25cb943D14d0d34FBaF01Fc93a0f8b5F6E47');
  assert.equal(walletOf('PROXY', OWNER), '0x365f0CA36Ae1f641E02fE3B7743673da42A13A70');
});

function randomHex(random: Random, bytes: number): string {
  return `0x${Array.from({ length: bytes }, () => random.below(256).toString(16).padStart(2, '0')).join('')}`;
}

function randomTerms(random: Random): BatchTerms {
  const calls: Call[] = Array.from({ length: random.between(1, 8) }, () => ({
    target: randomHex(random, 20),
    data: randomHex(random, random.below(100)),
  }));
  const nonce = random.pick([0, 1, random.below(2 ** 31), 2 ** 53 - 1]);
  return { nonce, calls, deadline: random.below(2 ** 40) };
}

test('a batch of any wallet has the digest and the calls that ethers gives it, and any change another signer', async () => {
  const seed = freshSeed();
  const random = new Random(seed);
  for (let round = 0; round < rounds(60); round++) {
    const key = `0x${(BigInt(randomHex(random, 31)) + 1n).toString(16).padStart(64, '0')}`;
    const owner = addressByEthers(key).toLowerCase();
    const kind = random.pick(['WALLET', 'SAFE', 'PROXY'] as const);
    const terms = randomTerms(random);
    const body = await batch(kind, key, terms);
    const read = signerOf(body);
    assert.equal(read.signer, owner, `${kind}, SEED=${seed}`);
    assert.deepEqual(dataOf(read.calls), dataOf(terms.calls));
    assert.equal(read.deadline, kind === 'WALLET' ? terms.deadline : undefined);
    assert.notEqual(signerOf({ ...body, nonce: '77' }).signer, owner);
    if (kind !== 'PROXY') assert.notEqual(signerOf(body, 138).signer, owner);
  }
});

test('data of several calls that is cut anywhere is refused, unless all of its calls are there', async () => {
  const calls = [APPROVAL, { target: CONDITIONAL, data: '0x' }, APPROVAL];
  for (const kind of ['SAFE', 'PROXY'] as const satisfies readonly Kind[]) {
    const body = (await batch(kind, KEY, { nonce: 0, calls })) as { data: string };
    for (let digits = 2; digits < body.data.length; digits += 2) {
      const cut = { ...body, data: body.data.slice(0, digits) } as unknown as BatchBody;
      const read = signedBatch(cut, 137, PROXY_FACTORY);
      // Zeros behind the last call may be missing.
      if (!('code' in read)) assert.deepEqual(dataOf(read.calls), dataOf(calls), String(digits));
    }
  }
});
