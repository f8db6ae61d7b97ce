/**
 * Allocates ladders: after the last one ever used, or where a ladder with the same number of rows
 * was freed. Free ladders of similar size share a list. The first row of each holds the link to the
 * next one, and its number of rows.
 */
import { assert } from './assert.ts';
import {
  firstLadderRow,
  Header,
  ladderRows,
  type MatchingMemory,
  ROW_I,
  wordsOf,
} from './memory.ts';

const NEXT = 0;
const ROWS = 1;

export class Ladders {
  private readonly header: Int32Array;
  private readonly rowI: Int32Array;
  private readonly first: number;
  private readonly end: number;

  constructor(buffers: MatchingMemory) {
    this.header = wordsOf(buffers.header);
    this.rowI = wordsOf(buffers.rows);
    this.first = firstLadderRow(buffers.orders);
    this.end = this.rowI.length >>> ROW_I;
  }

  available(levels: number, count: number): boolean {
    const rows = ladderRows(levels);
    if (this.used() + count * rows <= this.end) return true;
    return count === 1 && this.findFree(rows) !== NOTHING;
  }

  /** Allocates an empty ladder. The caller has checked that there is room. */
  take(levels: number): number {
    const rows = ladderRows(levels);
    const { header, rowI } = this;
    const before = this.findFree(rows);
    if (before === NOTHING) {
      const ladder = this.used();
      assert(ladder + rows <= this.end, 'a ladder is reserved before it is taken');
      header[Header.levelRows]! += rows;
      return ladder;
    }
    const list = listOf(rows);
    const ladder = before === 0 ? header[list]! : rowI[(before << ROW_I) + NEXT]!;
    const after = rowI[(ladder << ROW_I) + NEXT]!;
    if (before === 0) header[list] = after;
    else rowI[(before << ROW_I) + NEXT] = after;
    rowI[(ladder << ROW_I) + NEXT] = 0;
    rowI[(ladder << ROW_I) + ROWS] = 0;
    return ladder;
  }

  give(levels: number, ladder: number): void {
    const rows = ladderRows(levels);
    const at = ladder << ROW_I;
    const { header, rowI } = this;
    assert(rowI[at + NEXT] === 0 && rowI[at + ROWS] === 0, 'only an empty ladder is given back');
    rowI[at + NEXT] = header[listOf(rows)]!;
    rowI[at + ROWS] = rows;
    header[listOf(rows)] = ladder;
  }

  *free(): Generator<readonly [ladder: number, rows: number]> {
    const { header, rowI } = this;
    for (let list = Header.freeLadders; list < Header.size; list++) {
      for (let ladder = header[list]!; ladder !== 0; ladder = rowI[(ladder << ROW_I) + NEXT]!) {
        yield [ladder, rowI[(ladder << ROW_I) + ROWS]!];
      }
    }
  }

  /**
   * The free ladder before the first one of exactly so many rows; 0 when that one is the head of
   * its list; or NOTHING.
   */
  private findFree(rows: number): number {
    const { header, rowI } = this;
    let before = 0;
    let ladder = header[listOf(rows)]!;
    while (ladder !== 0) {
      if (rowI[(ladder << ROW_I) + ROWS] === rows) return before;
      before = ladder;
      ladder = rowI[(ladder << ROW_I) + NEXT]!;
    }
    return NOTHING;
  }

  /** The row after the last ladder that was ever used. */
  private used(): number {
    return this.first + this.header[Header.levelRows]!;
  }
}

const NOTHING = -1;

function listOf(rows: number): number {
  return Header.freeLadders + 31 - Math.clz32(rows);
}
