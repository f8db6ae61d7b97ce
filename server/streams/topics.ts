/**
 * Topics that connections of the market channel join.
 *
 * Thread: I/O.
 */
export const topics = {
  asset: (token: number): string => `asset ${token}`,
  book: (book: number): string => `book ${book}`,
  best: (token: number): string => `best ${token}`,
  markets: 'markets',
};
