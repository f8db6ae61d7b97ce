/**
 * Projection of positions (position-rows.ts): a fill changes the positions of two wallets, and a mint or merge the
 * open interest of its market. With a ledger its entries change positions: also splits, merges and payouts.
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import {
  fillFee,
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
} from '../../engine/reads.ts';
import { EntryCause, MatchKind } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { type Entry, entryOf } from './entries.ts';
import {
  decodeInterest,
  decodePosition,
  encodeInterest,
  encodePosition,
  interestKey,
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

/** A position changed by the current fills. */
interface Moved {
  readonly key: Buffer;
  /** Key in the table tokens of a new position. */
  readonly newKey: Buffer | undefined;
  readonly position: Position;
}

export class Positions implements FactProjection {
  readonly name = 'positions';
  readonly format = 2;
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
    for (const [, row] of events.entries) this.enter(events.tables, entryOf(row), moved);
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
      const key = interestKey(market);
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

  /** Micro-shares minted less merged, of a market, or with 0 of all of them. Throws DamagedRow. */
  interest(market: number): bigint {
    const key = interestKey(market);
    const value = this.interests.get(key);
    return value === undefined ? 0n : decodeInterest(key, value);
  }

  /** Applies one fill to both wallets. Returns the micro-shares that it minted; merged ones as a negative. */
  private count(fills: FactEvents, row: FillRow, moved: Map<number, Moved>): bigint {
    const time = fillTime(fills, row);
    const size = BigInt(fillSize(fills, row));
    const fee = BigInt(fillFee(fills, row));
    const kind = fillKind(fills, row);
    const takerBuys = fillTakerSide(fills, row) === 0;
    const makerBuys = kind === MatchKind.complementary ? !takerBuys : takerBuys;
    const taker = this.moved(moved, fillTaker(fills, row), fillTakerToken(fills, row));
    const paid = BigInt(fillTakerCollateral(fills, row));
    trade(taker, takerBuys, takerBuys ? size - fee : size, takerBuys ? paid : paid - fee);
    taker.time = time;
    const maker = this.moved(moved, fillMaker(fills, row), fillMakerToken(fills, row));
    trade(maker, makerBuys, size, BigInt(fillMakerCollateral(fills, row)));
    maker.time = time;
    return minted(fills, row);
  }

  /**
   * Applies one ledger entry. A complete set is bought and sold at the same price for each of its outcomes; the first
   * one takes the remainder.
   */
  private enter(tables: Tables, entry: Entry, moved: Map<number, Moved>): void {
    const { account, cash, cause, shares, time, token } = entry;
    if (token === 0) return;
    const position = this.moved(moved, account, token);
    const size = BigInt(Math.abs(shares));
    let paid = BigInt(Math.abs(cash));
    if (cause === EntryCause.split || cause === EntryCause.merge) {
      const outcomes = BigInt(marketTokens(tables, tokenMarket(tables, token)));
      const each = size / outcomes;
      paid = tokenOutcome(tables, token) === 0 ? size - each * (outcomes - 1n) : each;
    }
    trade(position, shares > 0, size, paid);
    position.time = time;
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

/** Micro-shares that a fill minted, merged ones as a negative. */
function minted(fills: FactEvents, row: FillRow): bigint {
  const kind = fillKind(fills, row);
  if (kind === MatchKind.complementary) return 0n;
  const size = BigInt(fillSize(fills, row));
  return kind === MatchKind.mint ? size : -size;
}

function read(key: Buffer, value: Buffer): WalletPosition {
  const position = decodePosition(key, value);
  return { token: key.readUInt32BE(0), account: secondOf(key), ...position };
}
