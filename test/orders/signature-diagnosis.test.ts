import assert from 'node:assert/strict';
import test from 'node:test';
import type { OrderDomain, UnsignedOrder } from '../../client/typed-data.ts';
import { Wallet } from '../../client/wallet.ts';
import {
  contractOf,
  type ExchangeDomains,
  PUBLISHED_DOMAINS,
} from '../../server/auth/exchange-domains.ts';
import {
  SignatureDiagnosis,
  type SuspectOrder,
} from '../../server/orders/worker/signature-diagnosis.ts';

const CHAIN = 31_337;
const own = { name: 'CTF Exchange', version: '1', chainId: CHAIN };
const second = `0x${'2'.repeat(40)}`;
const domains: ExchangeDomains = {
  1: { ...own, contract: `0x${'1'.repeat(40)}`, negRiskContract: second },
  2: {
    ...own,
    version: '2',
    contract: `0x${'3'.repeat(40)}`,
    negRiskContract: `0x${'4'.repeat(40)}`,
  },
  3: {
    ...own,
    version: '3',
    contract: `0x${'5'.repeat(40)}`,
    negRiskContract: `0x${'5'.repeat(40)}`,
  },
};
const published = Object.values(PUBLISHED_DOMAINS);
const wallet = Wallet.fromSeed('signature diagnosis');
const zero = `0x${'0'.repeat(40)}`;

function diagnosis(workers = 1): SignatureDiagnosis {
  return new SignatureDiagnosis({ domains, published, workers });
}

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
const NOBODY = new Uint8Array(20).fill(9);

function suspect(
  domain: OrderDomain,
  {
    of = wallet,
    sent = {},
    signed = {},
  }: Readonly<{
    of?: Wallet;
    sent?: Partial<SuspectOrder>;
    signed?: Partial<UnsignedOrder>;
  }> = {},
): SuspectOrder {
  const order: UnsignedOrder = {
    salt: '1',
    maker: of.address,
    signer: of.address,
    taker: zero,
    tokenId: '7',
    makerAmount: '5',
    takerAmount: '10',
    expiration: '0',
    nonce: '0',
    feeRateBps: '0',
    side: 0,
    signatureType: 0,
    ...signed,
  };
  const { signature } = of.signOrder(domain, order);
  const address = bytesOf(of.address);
  return {
    ...{ ...order, maker: address, signer: address, taker: bytesOf(zero), side: 0 },
    version2: undefined,
    domain: 1,
    signature: bytesOf(signature),
    ...sent,
  };
}

const at = (chainId: number, verifyingContract: string, version = '1'): OrderDomain => ({
  name: own.name,
  version,
  chainId,
  verifyingContract,
});
const contract = domains[1].contract;

/** Repeats an order like a person after each answer; returns the first answer with a diagnosis. */
function fitOf(order: SuspectOrder, times: number): string | undefined {
  const of = diagnosis();
  for (let i = 0; i < times; i++) {
    of.beginRequest(1_000 * i, true);
    const { facts } = of.explain(order, false, NOBODY);
    if (facts.fits !== undefined) return facts.fits;
  }
  return undefined;
}

test('the contract of other markets and the other usual chain are found at once', () => {
  assert.equal(fitOf(suspect(at(CHAIN, second)), 1), `the contract of neg-risk markets, ${second}`);
  assert.equal(fitOf(suspect(at(137, contract)), 1), 'chain id 137');
});

test('other chains, types, versions and services are found when the order is sent again', () => {
  assert.equal(fitOf(suspect(at(CHAIN, contract, '2')), 2), 'domain version 2');
  const ofType = suspect(at(CHAIN, contract), { sent: { signatureType: 2 } });
  assert.equal(fitOf(ofType, 2), 'signatureType 0');
  const signed = { signatureType: 3 } as const;
  const signedType = suspect(at(CHAIN, contract), { signed, sent: { signatureType: 0 } });
  assert.equal(fitOf(signedType, 4), 'signatureType 3');
  const version2 = suspect({ ...at(CHAIN, domains[2].contract), version: '2' });
  assert.equal(fitOf(version2, 4), `domain version 2 at ${domains[2].contract}`);
  assert.equal(fitOf(suspect(at(80_002, contract)), 8), 'chain id 80002');
  for (const domain of published) {
    for (const isNegRisk of [false, true]) {
      const address = contractOf(domain, isNegRisk);
      const order = suspect({ ...domain, verifyingContract: address });
      assert.equal(fitOf(order, 8), `${domain.name} at ${address} on chain id 137`);
    }
  }
});

test('an order of a position that is signed for version 2 or another chain is recognised', () => {
  const zero32 = `0x${'0'.repeat(64)}`;
  const unsigned = {
    salt: '1',
    maker: wallet.address,
    signer: wallet.address,
    tokenId: String(1n << 248n),
    makerAmount: '5',
    takerAmount: '10',
    side: 0 as const,
    timestamp: '1700000000000',
    metadata: zero32,
    builder: zero32,
  };
  const suspect3 = (domain: OrderDomain, signedType = 0): SuspectOrder => {
    const { signature } = wallet.signOrder(domain, { ...unsigned, signatureType: signedType });
    return {
      ...suspect(domain),
      ...unsigned,
      maker: bytesOf(wallet.address),
      signer: bytesOf(wallet.address),
      version2: {
        timestamp: unsigned.timestamp,
        metadata: bytesOf(zero32),
        builder: bytesOf(zero32),
      },
      domain: 3,
      signature: bytesOf(signature),
    };
  };
  const { contract: normal, negRiskContract } = domains[2];
  const { contract: third } = domains[3]!;
  assert.equal(fitOf(suspect3(at(CHAIN, normal, '2')), 1), `domain version 2 at ${normal}`);
  assert.equal(fitOf(suspect3(at(137, third, '3')), 1), 'chain id 137');
  assert.equal(
    fitOf(suspect3(at(CHAIN, negRiskContract, '2')), 2),
    `domain version 2 at ${negRiskContract}`,
  );
  assert.equal(fitOf(suspect3(at(CHAIN, third, '3'), 1), 2), 'signatureType 1');
  assert.equal(fitOf(suspect3(at(80_002, third, '3')), 5), 'chain id 80002');
  const { domain: _, ...old } = suspect3(at(CHAIN, third, '3'));
  assert.equal(fitOf({ ...old, domain: 2 }, 5), `domain version 3 at ${third}`);
});

test('an answer gives the signer, and the attempts without success', () => {
  const of = diagnosis();
  const order = suspect(at(5, contract));
  of.beginRequest(0, true);
  const first = of.explain(order, false, NOBODY);
  assert.deepEqual(first.facts, { recovered: '0x0909090909090909090909090909090909090909' });
  assert.match(
    first.detail,
    /^as sent the signature is of 0x0909.*, not of 0x[\dA-Fa-f]{40}; it would not fit/,
  );
  assert.match(first.detail, /nor chain id 137; the next refusal tries others$/);
  const makers = of.explain({ ...order, maker: NOBODY }, false, NOBODY);
  assert.match(makers.detail, /it is the maker's, and signer must have made it$/);
});

test('a request costs two recoveries at most, and a later part of one costs none', () => {
  const of = diagnosis();
  const order = suspect(at(5, contract));
  of.beginRequest(0, true);
  for (let i = 0; i < 500; i++) of.explain(order, false, NOBODY);
  assert.equal(of.takeRecoveries(), 2);
  of.beginRequest(1, false);
  for (let i = 0; i < 500; i++) of.explain(order, false, NOBODY);
  assert.equal(of.takeRecoveries(), 0);
});

test('a wallet has eight requests in a row, then one a second; another wallet has its own', () => {
  const of = diagnosis();
  const ask = (time: number, order: SuspectOrder): number => {
    of.beginRequest(time, true);
    of.explain(order, false, NOBODY);
    return of.takeRecoveries();
  };
  const [mine, theirs] = [
    suspect(at(5, contract)),
    suspect(at(5, contract), { of: Wallet.fromSeed('b') }),
  ];
  for (let i = 0; i < 8; i++) assert.equal(ask(0, mine), 2);
  assert.equal(ask(0, mine), 0);
  assert.equal(ask(0, theirs), 2);
  assert.equal(ask(999, mine), 0);
  assert.equal(ask(1_000, mine), 2);
  assert.equal(ask(1_000, mine), 0);
});

test('all wallets of a node have twenty requests a second, in equal parts for its threads', () => {
  for (const workers of [1, 4]) {
    const of = diagnosis(workers);
    const orders = Array.from({ length: 30 }, (_, i) =>
      suspect(at(5, contract), { of: Wallet.fromSeed(`wallet ${i}`) }),
    );
    const askAll = (time: number): void => {
      for (const order of orders) {
        of.beginRequest(time, true);
        of.explain(order, false, NOBODY);
      }
    };
    askAll(0);
    assert.equal(of.takeRecoveries(), (2 * 20) / workers);
    for (let ms = 10; ms <= 10_000; ms += 50) askAll(ms);
    const recoveries = of.takeRecoveries();
    assert(recoveries <= (2 * 20 * 10) / workers, `${recoveries}`);
    assert(recoveries >= (2 * 20 * 9) / workers, `${recoveries}`);
  }
});
