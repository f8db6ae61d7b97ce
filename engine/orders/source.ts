/**
 * Commands of the source of a paper venue: sizes of source levels, fills of paper orders, trade prints. Its money
 * is that of one reserved account, which receives deposits as any wallet. Rules: docs/guides/paper-and-backtests.md#commands
 */
import type * as matching from '../book/matching.ts';
import { CommandKind, commandKind, LevelCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { AMOUNT_MAX } from '../tables/capacities.ts';
import { BOOK_I, Book, State, TOKEN_I, Token } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { BookRow, MarketRow, MicroShares, Pips, Ticks, TokenRow } from '../tables/units.ts';
import { PIPS_PER_UNIT } from '../tables/units.ts';
import { RejectReason, type RejectReasonCode } from './reject-reasons.ts';
import { setLevel } from './source-levels.ts';
import type { Place } from './source-purchase.ts';
import { fillOrder, print } from './source-trades.ts';

export function applySource(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  context.making = 0;
  context.taking = 0;
  const kind = commandKind(i32, at);
  if (kind === CommandKind.fill) return fillOrder(context, i32, f64, at);
  const token = i32[at + LevelCommand.token]! as TokenRow;
  if (token < 1 || token > t.state[State.tokens]!) return RejectReason.tokenUnknown;
  if (t.tokenI[(token << TOKEN_I) + Token.complement] === 0) return RejectReason.notBinary;
  const pips = i32[at + LevelCommand.pips]!;
  if (pips < 1 || pips >= PIPS_PER_UNIT) return RejectReason.tick;
  const size = f64[at / 2 + LevelCommand.size]!;
  const least = kind === CommandKind.print ? 1 : 0;
  const isAmount = Number.isInteger(size) && size >= least && size <= AMOUNT_MAX;
  if (!isAmount) return RejectReason.amountInvalid;
  const p = placeAt(t, i32, f64, at);
  return kind === CommandKind.print ? print(context, i32, at, p) : setLevel(context, p);
}

function placeAt(t: Tables, i32: Int32Array, f64: Float64Array, at: number): Place {
  const named = i32[at + LevelCommand.token]! as TokenRow;
  const sells = i32[at + LevelCommand.side]! & 1;
  const w = named << TOKEN_I;
  const mirrored = t.tokenI[w + Token.mirrored]!;
  const book = t.tokenI[w + Token.book]! as BookRow;
  const grid = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]!;
  const own = i32[at + LevelCommand.pips]!;
  const pips = (mirrored === 1 ? PIPS_PER_UNIT - own : own) as Pips;
  const tick = (pips * grid) / PIPS_PER_UNIT;
  return {
    token: (sells === 1 ? t.tokenI[w + Token.complement]! : named) as TokenRow,
    market: t.tokenI[w + Token.market]! as MarketRow,
    book,
    side: (sells ^ mirrored) as matching.Side,
    pips,
    tick: Number.isInteger(tick) ? (tick as Ticks) : 0,
    grid,
    size: f64[at / 2 + LevelCommand.size]! as MicroShares,
  };
}
