import assert from 'node:assert/strict';
import test from 'node:test';
import { Wallets, walletFactories } from '../../server/auth/wallet-factory.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { depositWalletByEthers, walletByEthers } from '../common/ethers.ts';
import { rounds, withSeed } from '../common/random.ts';

const PROXY = 1;
const SAFE = 2;
const DEPOSIT = 3;
const TEXTS = {
  [PROXY]: PROFILE_TABLE.proxyWalletFactory.polymarket,
  [SAFE]: PROFILE_TABLE.safeWalletFactory.polymarket,
} as const;

const known = (): Wallets =>
  new Wallets(
    walletFactories({
      proxyWalletFactory: TEXTS[PROXY],
      safeWalletFactory: TEXTS[SAFE],
      beaconWalletFactory: PROFILE_TABLE.beaconWalletFactory.polymarket,
      uupsWalletFactory: PROFILE_TABLE.uupsWalletFactory.polymarket,
    }),
  );
const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), 'hex'));

function byEthers(type: typeof PROXY | typeof SAFE, signer: string): string {
  const [factory = '', codeHash = ''] = TEXTS[type].split(':');
  return walletByEthers(factory, codeHash, signer, type === PROXY);
}

/**
 * Signer, proxy wallet and safe from the tests of several client libraries of the other service.
 */
const SIGNER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const PUBLISHED = {
  [PROXY]: '0x365f0cA36ae1F641E02Fe3b7743673DA42A13a70',
  [SAFE]: '0xd93b25Cb943D14d0d34FBAf01fc93a0F8b5f6e47',
} as const;

/** Its deposit wallets; the digest of the code of the first one. */
const BEACON = '0xBc0fF067b7740Eff76C1ca93c875Ba6B890d6B50';
const UUPS = '0xdf8b9E8f9AB23f261F6e1B171B7454ae6E46Ba76';
const BEACON_CODE_HASH = '0xbef1328ed91f68ba9acb42880b44445531f9be19f99cdd9e224c4c65da7f2478';

test('the published wallets of a published signer belong to it, and no other wallet does', () => {
  const wallets = known();
  for (const type of [PROXY, SAFE] as const) {
    const wallet = bytes(PUBLISHED[type]);
    // In some other letter case than that of a checksum.
    assert.equal(byEthers(type, SIGNER).toLowerCase(), PUBLISHED[type].toLowerCase());
    assert.equal(wallets.ownershipOf(type, wallet, bytes(SIGNER)), 'derived');
    assert.equal(wallets.ownershipOf(type, bytes(SIGNER), bytes(SIGNER)), 'foreign');
    assert.equal(wallets.ownershipOf(type, wallet, wallet), 'foreign');
  }
  const [proxy, safe] = [bytes(PUBLISHED[PROXY]), bytes(PUBLISHED[SAFE])];
  assert.equal(wallets.ownershipOf(PROXY, safe, bytes(SIGNER)), 'foreign', 'types do not mix');
  assert.equal(wallets.ownershipOf(SAFE, proxy, bytes(SIGNER)), 'foreign');
  const [otherSigner, otherSafe] = [
    '0x6e0c80c90ea6c15917308F820Eac91Ce2724B5b5',
    '0x6d8c4e9aDF5748Af82Dabe2C6225207770d6B4fa',
  ];
  assert.equal(wallets.ownershipOf(SAFE, bytes(otherSafe), bytes(otherSigner)), 'derived');
  assert.equal(wallets.ownershipOf(0, proxy, bytes(SIGNER)), 'unknown');
});

test('no wallet is derived without a known factory', () => {
  const wallets = new Wallets(
    walletFactories({
      proxyWalletFactory: 'none',
      safeWalletFactory: '',
      beaconWalletFactory: 'none',
      uupsWalletFactory: '',
    }),
  );
  for (const [type, wallet] of [
    [PROXY, PUBLISHED[PROXY]],
    [SAFE, PUBLISHED[SAFE]],
    [DEPOSIT, BEACON],
    [DEPOSIT, UUPS],
  ] as const) {
    assert.equal(wallets.ownershipOf(type, bytes(wallet), bytes(SIGNER)), 'unknown');
    assert.deepEqual([wallets.derives(type), wallets.walletsOf(type, bytes(SIGNER))], [false, []]);
  }
});

test('signers that share a cache slot, in any order, have their own wallets', () => {
  withSeed((random) => {
    const wallets = known();
    const tails = ['0000', '0001', '1000', 'ffff'];
    const signers = Array.from({ length: 20 }, () => {
      const head = Array.from({ length: 18 }, () =>
        random.below(256).toString(16).padStart(2, '0'),
      );
      return `0x${head.join('')}${random.pick(tails)}`;
    });
    // Of a signer of zeros the place has not been taken, though it holds zeros.
    signers.push(`0x${'0'.repeat(40)}`);
    for (let i = 0; i < rounds(2_000); i++) {
      const type = random.pick([PROXY, SAFE] as const);
      const [signer, other] = [random.pick(signers), random.pick(signers)];
      const wallet = bytes(byEthers(type, other));
      const expected = signer === other ? 'derived' : 'foreign';
      assert.equal(wallets.ownershipOf(type, wallet, bytes(signer)), expected);
    }
  });
});

test('the published deposit wallets of both kinds follow from their owner, and are of nobody else', () => {
  const wallets = known();
  const owner = bytes(SIGNER);
  const texts = wallets.walletsOf(DEPOSIT, owner).map((wallet) => Buffer.from(wallet));
  assert.deepEqual(texts, [Buffer.from(bytes(BEACON)), Buffer.from(bytes(UUPS))]);
  const byEthers = depositWalletByEthers(PROFILE_TABLE.beaconWalletFactory.polymarket, SIGNER);
  assert.deepEqual(byEthers, { wallet: BEACON, codeHash: BEACON_CODE_HASH, codeBytes: 181 });
  for (const wallet of [bytes(BEACON), bytes(UUPS)]) {
    assert.equal(wallets.ownershipOf(DEPOSIT, wallet, owner), 'derived');
    assert.equal(wallets.ownershipOf(DEPOSIT, wallet, wallet), 'foreign');
    assert.equal(wallets.ownershipOf(SAFE, wallet, owner), 'foreign');
  }
  assert.equal(wallets.ownershipOf(DEPOSIT, owner, owner), 'foreign');
});

test('random owners have the deposit wallets that ethers computes, and one factory alone its own', () => {
  const beacon = PROFILE_TABLE.beaconWalletFactory.polymarket;
  const none = { proxyWalletFactory: '', safeWalletFactory: '', uupsWalletFactory: '' };
  const wallets = new Wallets(walletFactories({ ...none, beaconWalletFactory: beacon }));
  assert.deepEqual([wallets.derives(DEPOSIT), wallets.derives(SAFE)], [true, false]);
  withSeed((random) => {
    for (let i = 0; i < 50; i++) {
      const digits = Array.from({ length: 40 }, () => random.below(16).toString(16));
      const owner = `0x${digits.join('')}`;
      const [wallet, ...others] = wallets.walletsOf(DEPOSIT, bytes(owner));
      assert.deepEqual(others, []);
      const expected = depositWalletByEthers(beacon, owner).wallet;
      assert.deepEqual(Buffer.from(wallet!), Buffer.from(bytes(expected)));
    }
  });
});
