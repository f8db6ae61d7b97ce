/**
 * The best of many rows by their scores. A page shows few of the matches of a search: the others are
 * compared with the worst of the best ones, and not with each other.
 *
 * Pure; any thread.
 */

/**
 * Moves the best rows to the front, best first, equal ones in descending order; the others follow in
 * any order.
 * @returns the part of `rows` that is ranked, at most `most` of them
 */
export function rankBest<Rows extends Uint32Array>(
  rows: Rows,
  scores: Float64Array,
  most: number,
): Rows {
  const best = rows.subarray(0, most) as Rows;
  if (best.length < rows.length && best.length > 0) collectBest(rows, scores, best.length);
  best.sort((a, b) => scores[b]! - scores[a]! || b - a);
  return best;
}

/** The first `count` rows are a heap whose first row is the worst of them. */
function collectBest(rows: Uint32Array, scores: Float64Array, count: number): void {
  for (let place = (count >> 1) - 1; place >= 0; place--) sink(rows, scores, count, place);
  for (let at = count; at < rows.length; at++) {
    const row = rows[at]!;
    if (!isWorse(scores, rows[0]!, row)) continue;
    rows[at] = rows[0]!;
    rows[0] = row;
    sink(rows, scores, count, 0);
  }
}

function sink(rows: Uint32Array, scores: Float64Array, count: number, from: number): void {
  const row = rows[from]!;
  let place = from;
  for (let child = 2 * place + 1; child < count; child = 2 * place + 1) {
    const other = child + 1;
    if (other < count && isWorse(scores, rows[other]!, rows[child]!)) child = other;
    if (!isWorse(scores, rows[child]!, row)) break;
    rows[place] = rows[child]!;
    place = child;
  }
  rows[place] = row;
}

function isWorse(scores: Float64Array, row: number, other: number): boolean {
  const [a, b] = [scores[row]!, scores[other]!];
  return a < b || (a === b && row < other);
}
