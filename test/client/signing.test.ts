import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type Provider, ProviderWallet, Wallet, WrongChainError } from '../../client/client.ts';
import { authData, orderData } from '../../client/typed-data.ts';
import {
  addressByEthers,
  authDigestByEthers,
  order2DigestByEthers,
  orderDigestByEthers,
  recoverByEthers,
  signTypedDataByEthers,
  typedDataTextByEthers,
  walletSignatureByEthers,
} from '../common/ethers.ts';
import { NORMAL } from '../common/traders.ts';

const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((b) => `0x${Buffer.from(b).toString('hex')}`);
const common = {
  salt: uint,
  maker: hex(20),
  signer: hex(20),
  tokenId: uint,
  makerAmount: uint,
  takerAmount: uint,
  side: fc.constantFrom(0 as const, 1 as const),
  signatureType: fc.integer({ min: 0, max: 3 }),
};
const order = fc.record({
  ...common,
  taker: hex(20),
  expiration: uint,
  nonce: uint,
  feeRateBps: uint,
});
const order2 = fc.record({
  ...common,
  signatureType: fc.integer({ min: 0, max: 2 }),
  timestamp: uint,
  metadata: hex(32),
  builder: hex(32),
});
const key = hex(32).filter((text) => BigInt(text) > 0n && BigInt(text) < 2n ** 255n);

test('addresses, digests and signatures of orders of version 1 are those of ethers', async () => {
  await fc.assert(
    fc.asyncProperty(order, key, async (unsigned, privateKey) => {
      const wallet = new Wallet(privateKey);
      assert.equal(wallet.address, addressByEthers(privateKey));
      const { digest, signature } = wallet.signOrder(NORMAL, unsigned);
      assert.equal(digest, orderDigestByEthers(NORMAL, unsigned));
      assert.equal(signature, await signTypedDataByEthers(privateKey, NORMAL, unsigned));
    }),
    { numRuns: 12 },
  );
});

test('orders of version 2 and level-1 requests are signed for the digests of ethers', () => {
  const domain = { ...NORMAL, version: '2' };
  fc.assert(
    fc.property(order2, key, uint, (unsigned, privateKey, nonce) => {
      const wallet = new Wallet(privateKey);
      const { digest, signature } = wallet.signOrder(domain, unsigned);
      assert.equal(digest, order2DigestByEthers(domain, unsigned));
      assert.equal(recoverByEthers(digest, signature), wallet.address);
      const auth = authDigestByEthers(137, wallet.address, '1700000000', nonce);
      const signed = wallet.signAuth(137, '1700000000', nonce);
      assert.equal(recoverByEthers(auth, signed), wallet.address);
    }),
    { numRuns: 12 },
  );
});

test('orders of deposit wallets have the signature that ethers puts together', async () => {
  for (const version of ['2', '3']) {
    const domain = { ...NORMAL, version };
    await fc.assert(
      fc.asyncProperty(order2, key, async (unsigned, privateKey) => {
        const ofWallet = { ...unsigned, signer: unsigned.maker, signatureType: 3 };
        const { digest, signature } = new Wallet(privateKey).signOrder(domain, ofWallet);
        assert.equal(digest, order2DigestByEthers(domain, ofWallet));
        const expected = await walletSignatureByEthers(privateKey, domain, ofWallet);
        assert.equal(signature, expected.signature);
      }),
      { numRuns: 6 },
    );
  }
});

test('the key of a random wallet can be saved, and appears in no other text of the wallet', () => {
  const wallet = Wallet.random();
  const key = wallet.exportKey();
  assert.match(key, /^0x[0-9a-f]{64}$/);
  const again = new Wallet(key);
  assert.deepEqual([again.address, again.exportKey()], [wallet.address, key]);
  assert.equal(wallet.address, addressByEthers(key));
  for (const text of [inspect(wallet, { depth: 9, showHidden: true }), JSON.stringify(wallet)]) {
    assert(!text.toLowerCase().includes(key.slice(2, 20)), text);
  }
});

test('an invalid private key is refused', () => {
  for (const text of ['', '0x', `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`, '1'.repeat(64)]) {
    assert.throws(() => new Wallet(text), RangeError);
  }
});

/** A provider that signs with a key by ethers, and is on a chain. */
function providerOf(privateKey: string, chain: { id: number }): Provider {
  return {
    request: async ({ method, params = [] }) => {
      if (method === 'eth_chainId') return `0x${chain.id.toString(16)}`;
      if (method !== 'eth_signTypedData_v4') return [addressByEthers(privateKey).toLowerCase()];
      return (await typedDataTextByEthers(privateKey, String(params[1]))).signature;
    },
  };
}

test('typed data as JSON, which a provider signs, has the digest and the signature of a key', async () => {
  const domain = { ...NORMAL, version: '2' };
  await fc.assert(
    fc.asyncProperty(order, order2, key, uint, async (first, second, privateKey, nonce) => {
      const wallet = new Wallet(privateKey);
      const ofWallet = { ...second, signer: second.maker, signatureType: 3 };
      const asked = await ProviderWallet.connect(
        providerOf(privateKey, { id: NORMAL.chainId }),
        NORMAL.chainId,
      );
      assert.equal(asked?.address, wallet.address);
      for (const data of [
        orderData(NORMAL, first).data,
        orderData(domain, second).data,
        orderData(domain, ofWallet).data,
        authData(NORMAL.chainId, wallet.address, '1700000000', nonce),
      ]) {
        const { digest } = await typedDataTextByEthers(privateKey, JSON.stringify(data));
        assert.equal(`0x${Buffer.from(data.digest).toString('hex')}`, digest);
        assert.equal(await asked.sign(data), wallet.sign(data));
      }
    }),
    { numRuns: 6 },
  );
});

test('a provider on another chain signs nothing, also when it moves there later', async () => {
  const chain = { id: 1 };
  const provider = providerOf(`0x${'7'.repeat(64)}`, chain);
  const isWrong = new WrongChainError(137, 1);
  await assert.rejects(ProviderWallet.connect(provider, 137), isWrong);
  chain.id = 137;
  const wallet = await ProviderWallet.connect(provider, 137);
  assert(wallet !== undefined);
  const data = authData(137, wallet.address, '1700000000', '0');
  assert.match(await wallet.sign(data), /^0x[0-9a-f]{130}$/);
  chain.id = 1;
  await assert.rejects(wallet.sign(data), isWrong);
});
