/**
 * Projection of positions (position-rows.ts): a fill changes the positions of two wallets, and a mint or merge the
 * open interest of its market. With a ledger its entries change positions: also splits, merges and payouts.
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import {
  feeSchedules,
  fillFails,
  fillFeeCollateral,
  fillFeeShares,
  fillKind,
  fillMaker,
  fillMakerCollateral,
  fillMakerToken,
  fillSize,
  fillTaker,
  fillTakerCollateral,
  fillTakerSide,
  fillTakerToken,
  fillTime,
  marketTokens,
  tokenMarket,
  tokenOutcome,
  unsettledEver,
} from '../../engine/reads.ts';
import { EntryCause, MatchKind } from '../../engine/tables/codes.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { type Entry, entryOf } from './entries.ts';
import { numberKey } from './keys.ts';
import {
  decodeInterest,
  decodePosition,
  encodeInterest,
  encodePosition,
  newPosition,
  type Position,
  secondOf,
  tokenKey,
  trade,
  walletKey,
} from './position-rows.ts';
import { checkRows, DamagedRow, type FactEvents, type FactProjection } from './projection.ts';

const THERE = Buffer.from([1]);
const U32_MAX = 2 ** 32 - 1;

export interface WalletPosition extends Position {
  readonly account: number;
  readonly token: number;
}

interface Moved {
  readonly key: Buffer;
  /** Key in the table tokens of a new position. */
  readonly newKey: Buffer | undefined;
  readonly position: Position;
}

/**
 * Realised profit of a position by one sale, merge or payout; also of a short position by a purchase. A rebate is a
 * gain of no position.
 */
export interface Gain {
  readonly account: number;
  /** 0 = a rebate. */
  readonly token: number;
  /** Unix milliseconds. */
  readonly time: number;
  /** Micro-units, with a sign. */
  readonly profit: bigint;
  /** Micro-units of a payout by a resolution; `undefined` otherwise. */
  readonly payout: bigint | undefined;
}

export class Positions implements FactProjection {
  readonly name = 'positions';
  readonly format = 4;
  /** Gains of the last call of apply(), in order. */
  gains: Gain[] = [];
  private readonly wallets: BinaryTable;
  private readonly tokens: BinaryTable;
  private readonly interests: BinaryTable;

  constructor(root: RootDatabase<Buffer, string>) {
    this.wallets = openTable(root, 'wallets');
    this.tokens = openTable(root, 'tokens');
    this.interests = openTable(root, 'interest');
  }

  apply(events: FactEvents): void {
    const moved = new Map<number, Moved>();
    const interest = new Map<number, bigint>();
    const hasLedger = ledgerIsOn(events.tables);
    this.gains = [];
    for (const [, row] of events.entries) this.enter(events, entryOf(row), moved);
    for (let row = 0 as FillRow; row < events.count; row++) {
      const shares = hasLedger ? minted(events, row) : this.count(events, row, moved);
      if (shares === 0n) continue;
      const market = tokenMarket(events.tables, fillTakerToken(events, row));
      for (const of of [market, 0]) interest.set(of, (interest.get(of) ?? 0n) + shares);
    }
    for (const { key, newKey, position } of moved.values()) {
      void this.wallets.put(key, encodePosition(key, position));
      if (newKey !== undefined) void this.tokens.put(newKey, THERE);
    }
    for (const [market, shares] of interest) {
      const key = numberKey(market);
      void this.interests.put(key, encodeInterest(key, this.interest(market) + shares));
    }
  }

  clear(): void {
    for (const table of [this.wallets, this.tokens, this.interests]) table.clearSync();
  }

  verify(): string {
    checkRows('interest', this.interests);
    return `${checkRows('wallets', this.wallets)} positions`;
  }

  /** Position in one token; undefined without a trade. Throws DamagedRow. */
  of(account: number, token: number): WalletPosition | undefined {
    const key = walletKey(token, account);
    const value = this.wallets.get(key);
    return value === undefined ? undefined : read(key, value);
  }

  /** Positions of a wallet from `token` on, by token, `limit` at most. Throws DamagedRow. */
  ofWallet(account: number, token: number, limit: number): WalletPosition[] {
    const start = tokenKey(account, token);
    const end = tokenKey(account, U32_MAX);
    return Array.from(this.tokens.getKeys({ start, end, limit }), (key) => {
      const position = this.of(account, secondOf(key));
      if (position === undefined) throw new DamagedRow('positions');
      return position;
    });
  }

  /** Positions in a token from `account` on, by account, `limit` at most. Throws DamagedRow. */
  inToken(token: number, account: number, limit: number): WalletPosition[] {
    const start = walletKey(token, account);
    const end = walletKey(token, U32_MAX);
    const range = this.wallets.getRange({ start, end, limit });
    return Array.from(range, ({ key, value }) => read(key, value));
  }

  /** Every position. Throws DamagedRow. */
  *all(): Generator<WalletPosition> {
    for (const { key, value } of this.wallets.getRange()) yield read(key, value);
  }

  /** Micro-shares minted less merged, of a market, or with 0 of all of them. Throws DamagedRow. */
  interest(market: number): bigint {
    const key = numberKey(market);
    const value = this.interests.get(key);
    return value === undefined ? 0n : decodeInterest(key, value);
  }

  /** Applies one fill to both wallets. Returns the micro-shares that it minted; merged ones as a negative. */
  private count(fills: FactEvents, row: FillRow, moved: Map<number, Moved>): bigint {
    const time = fillTime(fills, row);
    const size = BigInt(fillSize(fills, row));
    const feeShares = BigInt(fillFeeShares(fills, row));
    const feeCash = BigInt(fillFeeCollateral(fills, row));
    const kind = fillKind(fills, row);
    const takerBuys = fillTakerSide(fills, row) === 0;
    const makerBuys = kind === MatchKind.complementary ? !takerBuys : takerBuys;
    const paid = BigInt(fillTakerCollateral(fills, row));
    const taker = { account: fillTaker(fills, row), token: fillTakerToken(fills, row), time };
    if (takerBuys) this.trade(moved, taker, true, size - feeShares, paid, feeCash);
    else this.trade(moved, taker, false, size, paid - feeCash);
    const maker = { account: fillMaker(fills, row), token: fillMakerToken(fills, row), time };
    this.trade(moved, maker, makerBuys, size, BigInt(fillMakerCollateral(fills, row)));
    return minted(fills, row);
  }

  /**
   * Applies one ledger entry. A complete set is bought and sold at the same price for each of its outcomes; the first
   * one takes the remainder.
   */
  private enter(events: FactEvents, entry: Entry, moved: Map<number, Moved>): void {
    const { tables } = events;
    const { account, cash, cause, shares, time, token } = entry;
    // The venue, which pays a rebate, has an entry of it too.
    if (cause === EntryCause.rebate && account !== 0)
      this.gains.push({ account, token, time, profit: BigInt(cash), payout: undefined });
    if (token === 0 || isOfFailure(events, entry)) return;
    const size = BigInt(Math.abs(shares));
    let paid = BigInt(Math.abs(cash));
    if (cause === EntryCause.split || cause === EntryCause.merge) {
      const outcomes = BigInt(marketTokens(tables, tokenMarket(tables, token)));
      const each = size / outcomes;
      paid = tokenOutcome(tables, token) === 0 ? size - each * (outcomes - 1n) : each;
    }
    const fee = cause === EntryCause.trade && shares > 0 ? feeOnTop(events, entry) : 0n;
    this.trade(moved, entry, shares > 0, size, paid - fee, fee, cause === EntryCause.redeem);
  }

  private trade(
    moved: Map<number, Moved>,
    { account, time, token }: Pick<Gain, 'account' | 'time' | 'token'>,
    isBuy: boolean,
    shares: bigint,
    collateral: bigint,
    fee = 0n,
    isPayout = false,
  ): void {
    const position = this.moved(moved, account, token);
    const { realised } = position;
    trade(position, isBuy, shares, collateral, time, fee);
    const profit = position.realised - realised;
    const payout = isPayout ? collateral : undefined;
    if (profit !== 0n) this.gains.push({ account, token, time, profit, payout });
  }

  private moved(all: Map<number, Moved>, account: number, token: number): Position {
    const at = account * 2 ** 24 + token;
    const known = all.get(at);
    if (known !== undefined) return known.position;
    const key = walletKey(token, account);
    const value = this.wallets.get(key);
    const position = value === undefined ? newPosition() : decodePosition(key, value);
    const newKey = value === undefined ? tokenKey(account, token) : undefined;
    all.set(at, { key, newKey, position });
    return position;
  }
}

/**
 * True for an entry of a fill that fails. Nobody uses what it brings meanwhile, so a position is as if it had never
 * been.
 */
function isOfFailure({ fillAt, tables }: FactEvents, { cause, reference }: Entry): boolean {
  if (cause === EntryCause.failed) return true;
  if (cause !== EntryCause.trade || unsettledEver(tables) === 0) return false;
  const fill = fillAt(reference);
  return fill !== undefined && fillFails(fill.rows, fill.row);
}

/** Fee of a schedule that is a part of the cash of a purchase; a maker pays none. */
function feeOnTop({ fillAt, tables }: FactEvents, { account, reference, token }: Entry): bigint {
  if (feeSchedules(tables) === 0) return 0n;
  const fill = fillAt(reference);
  if (fill === undefined) return 0n;
  const { row, rows } = fill;
  const isTaker =
    fillTakerSide(rows, row) === 0 &&
    fillTaker(rows, row) === account &&
    fillTakerToken(rows, row) === token;
  return isTaker ? BigInt(fillFeeCollateral(rows, row)) : 0n;
}

function minted(fills: FactEvents, row: FillRow): bigint {
  const kind = fillKind(fills, row);
  if (kind === MatchKind.complementary || fillFails(fills, row)) return 0n;
  const size = BigInt(fillSize(fills, row));
  return kind === MatchKind.mint ? size : -size;
}

function read(key: Buffer, value: Buffer): WalletPosition {
  const position = decodePosition(key, value);
  return { token: key.readUInt32BE(0), account: secondOf(key), ...position };
}
