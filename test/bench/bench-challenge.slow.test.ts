/** The challenge's benchmark: formats, digests, and equal results of all contenders. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  challengeExchangeSuite,
  challengePeers,
  challengeStreams,
  challengeSuite,
} from '../../bench/challenge/challenge.bench.ts';
import { generateChallenge } from '../../bench/challenge/generator.ts';
import { LimitOrderBookPeer } from '../../bench/challenge/peer-limit.ts';
import { NodejsOrderBook } from '../../bench/challenge/peer-nodejs.ts';
import { decodeChallenge, eachMessage } from '../../bench/challenge/stream.ts';
import { SHORT } from '../common/random.ts';
import { NaiveChallenge } from '../engine/naive-challenge.ts';

const TINY = { rounds: 1, roundMessages: 1, peerMessages: 3_000 };
const SHARED = '../shared/data/challenge';

/** Digests that the challenge publishes; its files are not part of the repository. */
const DIGESTS: Readonly<Record<string, string>> = {
  'static-20k.bin.gz': '75465244465e144211887b27fa9d16264940e34827fe1e54f9820195c7745fc3',
  'normal-20k.bin.gz': '7e32c8ad534265a77e66b9fc1df15cc61fe3030434a5b0ab9548704d23bb0395',
  'swing-25-20k.bin.gz': '36fc4d2ff747cc66eabf6ac46c083a9725c87eb6fda67f52c884155462390142',
  'swing-40-20k.bin.gz': '8c9192c69c18459e7ae06fb872690801d87b6de80ef0025314e17c4c06253c3e',
  'flash-crash-20k.bin.gz': 'aa7690ffa18ade5ce41c5531f72d7d43df842f5e670a4a0160eec5b6dc6c5c75',
};
const LONG_DIGESTS: Readonly<Record<string, string>> = {
  'normal-1m.bin.br': 'e9b2e3926854410b01a035aeb25dd05f1e597c233be8263de9eb49b6713d367e',
  'flash-crash-1m.bin.br': 'cff8d3f94b709fc64a8b2058a6ca4fb6920364904796e46906895e362d2bb16b',
};

test('core and exchange report the same as a naive engine, for every packing of the file', async () => {
  const raw = generateChallenge(3_000, 'bench-challenge');
  const stream = decodeChallenge('generated', raw);
  const naive = new NaiveChallenge();
  eachMessage(stream, (message) => naive.apply(message));
  const expected = createHash('sha256').update(naive.text()).digest('hex');
  const kinds = new Set(naive.text().match(/^\d/gm));
  assert.equal(kinds.size, 6, 'the stream has every kind of report');

  const dir = mkdtempSync(join(tmpdir(), 'challenge-'));
  try {
    const files = ['a.bin', 'b.bin.gz', 'c.bin.br'].map((name) => join(dir, name));
    writeFileSync(files[0]!, raw);
    writeFileSync(files[1]!, gzipSync(raw));
    writeFileSync(files[2]!, brotliCompressSync(raw));
    const beside = challengePeers(challengeStreams(files), TINY);
    const core = [...beside, ...(await challengeSuite(challengeStreams(files), TINY))];
    const own = core.filter(({ contender }) => contender === 'core');
    assert.equal(own.length, 4, 'once beside the peers, then each file');
    const exchange = await challengeExchangeSuite(challengeStreams(files), TINY);
    assert.equal(exchange.length, 3);
    for (const { digest, stream: name } of [...own, ...exchange]) {
      assert.equal(digest, expected, name);
    }
    assert([...core, ...exchange].every(({ perSecond }) => perSecond > 0));
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the other packages fill the size of the rules', () => {
  const stream = decodeChallenge('generated', generateChallenge(600, 'peers'));
  const naive = new NaiveChallenge();
  eachMessage(stream, (message) => naive.apply(message));
  const fills = naive.text().match(/^1,.*$/gm)!;
  const traded = fills.reduce((sum, line) => sum + Number(line.split(',')[3]), 0);
  for (const peer of [new NodejsOrderBook(stream), new LimitOrderBookPeer(stream)]) {
    peer.prepare();
    peer.run();
    assert.equal(peer.traded, traded, peer.name);
  }
});

test('a file that is not of the challenge is refused with a reason', () => {
  const good = generateChallenge(10, 'damaged');
  const damaged = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(good);
    change(bytes);
    return bytes;
  };
  const cases: readonly [Buffer, RegExp][] = [
    [good.subarray(0, 7), /shorter than its header/],
    [good.subarray(0, 60), /60 bytes, but 10 messages take 416/],
    [damaged((bytes) => bytes.writeUInt8(3, 16)), /message 0 has type 3/],
    [damaged((bytes) => bytes.writeBigUInt64LE(0n, 32)), /message 0 has id 0/],
    [damaged((bytes) => bytes.writeBigInt64LE(-5n, 40)), /message 0 has price -5/],
    [damaged((bytes) => bytes.writeUInt32LE(0, 20)), /message 0 has quantity 0/],
  ];
  for (const [bytes, reason] of cases) assert.throws(() => decodeChallenge('x', bytes), reason);
});

for (const [name, digests, skip] of [
  ['the small files', DIGESTS, SHORT],
  ['the full files', LONG_DIGESTS, SHORT],
] as const) {
  const isThere = existsSync(SHARED);
  test(`${name} of the challenge give the published digests`, {
    skip: skip || (!isThere && 'they are not here'),
  }, async () => {
    const files = Object.keys(digests).map((file) => join(SHARED, file));
    const results = await challengeSuite(challengeStreams(files), TINY);
    for (const [file, digest] of Object.entries(digests)) {
      const own = results.find(({ contender, stream }) => contender === 'core' && stream === file);
      assert.equal(own?.digest, digest, file);
    }
  });
}
