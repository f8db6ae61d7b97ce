/** A stage whose exchange has a ledger and a source, and the random commands of both. */
import { encodeFunds } from '../../engine/commands.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { Random } from '../common/random.ts';
import { addressWords } from '../engine/engine-driver.ts';
import { WITH_LEDGER } from '../engine/ledger-duel.ts';
import { type Command, SOURCE } from '../engine/naive-types.ts';
import { RandomSource } from '../engine/source-stream.ts';
import { MARKETS, Stream, type StreamShape } from '../engine/stream.ts';
import { FeedStage } from './feed-stage.ts';

const MUCH = 2 ** 40;
const SETS = 2 ** 36;

export interface Sourced {
  readonly stage: FeedStage;
  readonly stream: { next(): Command };
}

/** @param shape of the orders: nobody lacks money for them */
export function withSource(random: Random, shape: StreamShape): Sourced {
  const stage = new FeedStage(1_000, WITH_LEDGER);
  const orders = new Stream(random, shape, MARKETS);
  const source = new RandomSource(random);
  stage.hasLedger = true;
  stage.run({ kind: 'at', time: 1_000 });
  stage.run({ kind: 'policy', policy: 'allow' });
  // Its time, and its markets.
  for (let i = 0; i <= MARKETS.length; i++) stage.run(orders.next());
  let requests = 0;
  const pay = (kind: 'deposit' | 'split', wallet: number, market: number, amount: number): void => {
    requests += 1;
    const id = { isOperator: true, ms: 1, key: Int32Array.of(requests, 0, 0, 0) };
    const fields = { id, wallet: addressWords(wallet), market: market as MarketRow | 0, amount };
    stage.apply((out) => encodeFunds(out, kind, fields));
  };
  for (const wallet of [SOURCE, ...Array.from({ length: shape.accounts }, (_, i) => 1 + i)]) {
    pay('deposit', wallet, 0, MUCH);
    if (wallet === SOURCE) continue;
    for (let market = 1; market <= MARKETS.length; market++) pay('split', wallet, market, SETS);
  }
  // The random commands begin in a batch of their own: the first one may be the source's.
  stage.run({ kind: 'at', time: 1_000_000 });
  const next = (): Command => {
    if (random.chance(40)) return source.next();
    const command = orders.next();
    if (command.kind === 'order') source.sees(command);
    return command;
  };
  return { stage, stream: { next } };
}
