/** `replay`: the state after any stored batch, and the differences between two of them. */

import { findToken } from '../../engine/markets/markets.ts';
import {
  engineTime,
  fillCount,
  marketCount,
  openOrders,
  sourceLevels,
  tokenCount,
  tokenIdAt,
} from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import { digestOf, stateHash } from '../../engine/tables/state-hash.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { type Rebuilt, rebuild } from '../../storage/recovery/rebuild.ts';
import { microText, ratioMicro } from '../common/decimal.ts';
import { decimalToWords, wordsToDecimal } from '../common/uint256.ts';
import type { Context, Exit, Run } from './context.ts';
import { configOf, numberOf, textOf, tokenOf } from './settings.ts';
import { storedNames } from './stored-names.ts';

export const replayTo: Run = async (context, [sequence], options) => {
  const { paint, stdout } = context;
  const token = textOf(options, 'token');
  const other = textOf(options, 'diff');
  const rebuilt = stateAt(context, sequence);
  stdout.line(described(rebuilt));
  const books = booksOf(rebuilt.t, token);
  const isListed = options.books === true || token !== undefined;
  if (other === undefined && !isListed) return 'done';
  const { outcome } = await storedNames(context);
  const named = (level: string, size: string): string =>
    `${level} ${size} ${outcome(level.split(' ')[0]!)}`.trimEnd();
  if (other === undefined) {
    for (const [level, size] of books) stdout.line(named(level, size));
    return 'done';
  }
  const compared = stateAt(context, other);
  stdout.line(described(compared));
  let exit: Exit = stateHash(rebuilt.t) === stateHash(compared.t) ? 'done' : 'differs';
  const others = booksOf(compared.t, token);
  for (const level of new Set([...books.keys(), ...others.keys()])) {
    const [before, after] = [books.get(level), others.get(level)];
    if (before === after) continue;
    exit = 'differs';
    if (before !== undefined) stdout.line(paint.red(`- ${named(level, before)}`));
    if (after !== undefined) stdout.line(paint.green(`+ ${named(level, after)}`));
  }
  return exit;
};

function stateAt(context: Context, sequence: string | undefined): Rebuilt {
  const { dataDir, progress } = context;
  const to = sequence === undefined ? undefined : numberOf(sequence, 'SEQUENCE');
  const { capacities } = configOf(context);
  const onProgress = (done: number, total: number): void => progress.show('replay', done, total);
  const rebuilt = rebuild({ dataDir, capacities, to, onProgress });
  progress.clear();
  return rebuilt;
}

function described({ snapshot, sequence, t }: Rebuilt): string {
  const at = new Date(engineTime(t)).toISOString();
  const levels = sourceLevels(t) > 0 ? `${sourceLevels(t)} levels of the source, ` : '';
  return (
    `batch ${sequence} (${at}): state ${stateHash(t)}, digest ${digestOf(t)}, ` +
    `${marketCount(t)} markets, ${openOrders(t)} open orders, ${levels}` +
    `${fillCount(t)} fills; from image ${snapshot}`
  );
}

/** Sizes by `token side price`: bids from the best one down, then asks from the best one up. */
function booksOf(t: Tables, only: string | undefined): Map<string, string> {
  const levels = new Map<string, string>();
  const depth = new Depth();
  for (const token of tokensOf(t, only)) {
    const id = wordsToDecimal(t.tokenI, tokenIdAt(token));
    if (!readDepth(t, token, depth)) throw new Error(`the book of token ${id} cannot be read`);
    const add = (side: string, { count, sizes, ticks }: DepthSide): void => {
      for (let i = count - 1; i >= 0; i--) {
        const price = microText(ratioMicro(ticks[i]!, depth.ticksPerUnit));
        levels.set(`${id} ${side} ${price}`, microText(sizes[i]!));
      }
    };
    add('bid', depth.bids);
    add('ask', depth.asks);
  }
  return levels;
}

function tokensOf(t: Tables, only: string | undefined): TokenRow[] {
  const count = tokenCount(t);
  if (only === undefined) return Array.from({ length: count }, (_, i) => (i + 1) as TokenRow);
  const words = new Int32Array(ID_WORDS);
  decimalToWords(tokenOf(only), words, 0);
  const token = findToken(t, words, 0);
  if (token === 0) throw new Error(`there is no token ${only} after this batch`);
  return [token];
}
