/**
 * The public matching-engine challenge: on the matching core alone, on the whole exchange, and on
 * other engines that can be installed. Contenders alternate in rounds, so that a disturbance
 * affects all of them.
 *
 * Not measured: reading and decoding a file, emptying the books, hashing of reports.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type EngineModules, OWN_MODULES, olderModules } from '../common/engine-modules.ts';
import { printGarbage } from '../common/garbage.ts';
import type { Contender } from './contender.ts';
import { CoreContender } from './core-driver.ts';
import { ExchangeContender, fitsExchange } from './exchange-driver.ts';
import { LimitOrderBookPeer } from './peer-limit.ts';
import { NodejsOrderBook } from './peer-nodejs.ts';
import { Reports } from './reports.ts';
import { type ChallengeStream, prefixOf, readChallenge } from './stream.ts';

/** Folder of the challenge's files, beside a checkout. */
const SHARED = '../shared/data/challenge';
const WARM_UPS = 2;
export interface ChallengeOptions {
  /** Measured rounds. */
  readonly rounds: number;
  /** A round of a short stream runs it again until so many messages have passed. */
  readonly roundMessages: number;
  /**
   * A peer takes milliseconds for what the core does in one, so its streams are bounded by this
   * number.
   */
  readonly peerMessages: number;
  /** Compiled modules of an older checkout, whose exchange runs beside. */
  readonly baseline?: string;
}

export interface ChallengeResult {
  readonly stream: string;
  readonly contender: string;
  /** Messages a second: median of the rounds. */
  readonly perSecond: number;
  /** SHA-256 of the reports; undefined for engines that do not say each fill. */
  readonly digest?: string;
}

/** The streams of these files, or of those beside the checkout. */
export function* challengeStreams(files: readonly string[]): Generator<ChallengeStream> {
  for (const file of challengeFiles(files)) yield readChallenge(file);
}

/** These files, or without any those beside the checkout. */
export function challengeFiles(files: readonly string[]): readonly string[] {
  return files.length > 0 ? files : sharedFiles();
}

function sharedFiles(): string[] {
  if (!existsSync(SHARED)) throw new Error(`no file was named, and ${SHARED} is not there`);
  const names = readdirSync(SHARED).filter((name) => /\.bin(\.gz|\.br)?$/.test(name));
  return names.map((name) => join(SHARED, name));
}

/** The matching core on each stream. */
export async function challengeSuite(
  streams: Iterable<ChallengeStream>,
  options: ChallengeOptions,
): Promise<ChallengeResult[]> {
  const results: ChallengeResult[] = [];
  const older = await baselineModules(options);
  for (const stream of streams) {
    const core = new CoreContender(stream);
    const contenders: Contender[] = [core];
    if (older !== undefined && fitsExchange(stream)) {
      contenders.push(new ExchangeContender('baseline exchange', stream, older));
    }
    results.push(...measure(stream, contenders, options));
    await printGarbageOf(core, stream);
  }
  return results;
}

/**
 * Other packages beside the matching core: on the usual shape (`normal`) where a stream of it is short enough as
 * a whole, otherwise on the beginning of the first stream.
 */
export function challengePeers(
  streams: Iterable<ChallengeStream>,
  options: ChallengeOptions,
): ChallengeResult[] {
  const { peerMessages } = options;
  let short: ChallengeStream | undefined;
  for (const stream of streams) {
    const isUsual = stream.name.startsWith('normal') && stream.messages <= peerMessages;
    if (isUsual || short === undefined) short = prefixOf(stream, peerMessages);
    if (isUsual) break;
  }
  if (short === undefined) return [];
  const peers = [new NodejsOrderBook(short), new LimitOrderBookPeer(short)];
  return measure(short, [new CoreContender(short), ...peers], options);
}

async function printGarbageOf(core: CoreContender, stream: ChallengeStream): Promise<void> {
  const reports = new Reports(4 * stream.messages);
  const before = (): void => {
    core.prepare();
    reports.count = 0;
  };
  await printGarbage(stream.messages, before, () => core.run(reports));
}

/** The whole exchange on each stream whose prices fit the levels of a market. */
export async function challengeExchangeSuite(
  streams: Iterable<ChallengeStream>,
  options: ChallengeOptions,
): Promise<ChallengeResult[]> {
  const results: ChallengeResult[] = [];
  const older = await baselineModules(options);
  for (const stream of streams) {
    if (!fitsExchange(stream)) {
      print(`${stream.name}: its prices span more levels than a market has`);
      continue;
    }
    const contenders = [new ExchangeContender('exchange', stream, OWN_MODULES)];
    if (older !== undefined) {
      contenders.push(new ExchangeContender('baseline exchange', stream, older));
    }
    results.push(...measure(stream, contenders, options));
  }
  return results;
}

async function baselineModules(options: ChallengeOptions): Promise<EngineModules | undefined> {
  return options.baseline === undefined ? undefined : olderModules(options.baseline);
}

/** Runs the contenders in turn; the first one is what the others are compared with. */
function measure(
  stream: ChallengeStream,
  contenders: readonly Contender[],
  { rounds, roundMessages }: ChallengeOptions,
): ChallengeResult[] {
  // An order is reported when it comes, goes, and once for each of the two that a fill ends.
  const reports = new Reports(4 * stream.messages);
  const passes = Math.ceil(roundMessages / stream.messages);
  const rates = contenders.map(() => new Float64Array(rounds));
  for (let round = -WARM_UPS; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const isPeer = contender.reportsFills === false;
      const seconds = timeOf(contender, reports, isPeer ? 1 : passes);
      const messages = stream.messages * (isPeer ? 1 : passes);
      if (round >= 0) rates[i]![round] = messages / seconds;
    }
  }
  const results = contenders.map((contender, i): ChallengeResult => {
    const sorted = rates[i]!.sort();
    const perSecond = sorted[sorted.length >> 1]!;
    const result = { stream: stream.name, contender: contender.name, perSecond };
    if (contender.reportsFills === false) return result;
    contender.prepare();
    reports.count = 0;
    contender.run(reports);
    return { ...result, digest: reports.digest() };
  });
  print(`${stream.name}: ${stream.messages} messages`);
  for (const [i, { contender, digest, perSecond }] of results.entries()) {
    const spread = `${million(rates[i]![0]!)} to ${million(rates[i]!.at(-1)!)} in ${rounds} rounds`;
    const times = i === 0 ? '' : `, ${(results[0]!.perSecond / perSecond).toFixed(1)} x slower`;
    print(`  ${contender.padEnd(18)} ${million(perSecond)} M msg/s  (${spread}${times})`);
    if (digest !== undefined) print(`  ${' '.repeat(18)} ${digest}`);
  }
  return results;
}

/** Seconds of so many passes over the stream, without what is between them. */
function timeOf(contender: Contender, reports: Reports, passes: number): number {
  let milliseconds = 0;
  for (let pass = 0; pass < passes; pass++) {
    contender.prepare();
    reports.count = 0;
    const start = performance.now();
    contender.run(reports);
    milliseconds += performance.now() - start;
  }
  return milliseconds / 1_000;
}

function million(rate: number): string {
  return (rate / 1e6).toFixed(rate < 1e6 ? 3 : 2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
