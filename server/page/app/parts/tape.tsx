/**
 * The latest trades of an outcome, newest first: those of the node's list, then those of the stream. Rows stay, and their
 * texts move on.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { NodeClient } from '../../../../client/client.ts';
import { clockText, priceText, sharesText } from '../format.ts';
import { publicClient } from '../node/api.ts';
import { connection, onTrade, type TapeTrade } from '../node/follow.ts';
import type { Market } from '../node/markets.ts';
import { Scroll } from './scroll.tsx';

const ROWS = 20;
const READ = 200;
/** Decimals of the finest tick. */
const PRICE_STEPS = 10_000;

interface Shown {
  readonly market: Market;
  readonly outcome: number;
  readonly decimals: number;
}

export function Tape({ decimals, market, outcome }: Shown) {
  const token = market.tokens[outcome] ?? '';
  const { count, rows, streamed, trades } = useMemo(() => listOf(decimals), [token, decimals]);
  // After a gap of the stream the list has what it did not send.
  const isLive = connection.value === 'live';
  useEffect(() => {
    let isOver = false;
    let isListed: (trade: TapeTrade) => boolean = () => false;
    const stop = onTrade((of, trade) => {
      if (of !== token || isListed(trade)) return;
      streamed.unshift(trade);
      streamed.splice(ROWS);
      trades.value = [trade, ...trades.value].slice(0, ROWS);
    });
    readTrades(market.conditionId, outcome).then(
      (read) => {
        if (isOver) return;
        isListed = listedOnce(read);
        // The list may be behind the stream.
        const missing = streamed.filter((trade) => !isListed(trade));
        trades.value = [...missing, ...read].slice(0, ROWS);
      },
      () => undefined,
    );
    return () => {
      isOver = true;
      stop();
    };
  }, [trades, isLive]);
  if (count.value === 0) return <p class="muted">No trade yet</p>;
  return (
    <Scroll label="Latest trades">
      <table class="tabular">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Taker</th>
            <th scope="col">Price</th>
            <th scope="col">Shares</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, count.value).map(({ price, side, size, taker, time }, row) => (
            <tr key={row}>
              <td>
                <span class="cell">{time}</span>
              </td>
              <td class={side}>
                <span class="cell">{taker}</span>
              </td>
              <td>
                <span class="cell number">{price}</span>
              </td>
              <td>
                <span class="cell number">{size}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Texts of a trade. */
type Row = Readonly<Record<'time' | 'side' | 'taker' | 'price' | 'size', ReadonlySignal<string>>>;

function listOf(decimals: number) {
  const trades = signal<readonly TapeTrade[]>([]);
  /** Trades of the stream among them, newest first. */
  const streamed: TapeTrade[] = [];
  const rows = Array.from({ length: ROWS }, (_none, i): Row => {
    const of = (text: (trade: TapeTrade) => string): ReadonlySignal<string> =>
      computed(() => {
        const trade = trades.value[i];
        return trade === undefined ? '' : text(trade);
      });
    return {
      time: of(({ time }) => time),
      side: of(({ isSell }) => (isSell ? 'is-sell' : 'is-buy')),
      taker: of(({ isSell }) => (isSell ? '▼ Sell' : '▲ Buy')),
      price: of(({ price }) => priceText(price, decimals)),
      size: of(({ size }) => sharesText(size)),
    };
  });
  return { trades, streamed, rows, count: computed(() => trades.value.length) };
}

/**
 * Tells whether the list has a trade of the stream, once for each trade of the list: one that comes while the list is
 * read, or is drawn after it, stands in both.
 */
function listedOnce(read: readonly TapeTrade[]): (trade: TapeTrade) => boolean {
  const left = new Map<string, number>();
  // The list has seconds.
  const keyOf = ({ at, isSell, price, size }: TapeTrade): string =>
    [Math.floor(at / 1_000), isSell, price, size].join();
  for (const trade of read) left.set(keyOf(trade), (left.get(keyOf(trade)) ?? 0) + 1);
  return (trade) => {
    const count = left.get(keyOf(trade)) ?? 0;
    left.set(keyOf(trade), count - 1);
    return count > 0;
  };
}

type Rows = Awaited<ReturnType<NodeClient['marketData']['trades']>>;

/** The latest trades of an outcome, newest first, as the stream sends them: fills of one match at one price are one. */
async function readTrades(market: string, outcome: number): Promise<TapeTrade[]> {
  const client = await publicClient();
  const rows = await client.marketData.trades({ market, takerOnly: false, limit: READ });
  const matches = new Map<string, Rows[number][]>();
  for (const row of rows) {
    const known = matches.get(row.transactionHash);
    if (known === undefined) matches.set(row.transactionHash, [row]);
    else known.push(row);
  }
  return [...matches.values()].flatMap((match) => tradesOf(match, outcome));
}

/**
 * Trades of an outcome in a match, the last price first. Only rows of makers count, because the taker's has an average.
 * @param match its rows, the taker's first
 */
function tradesOf([taker, ...makers]: Rows, outcome: number): TapeTrade[] {
  const trades = new Map<number, TapeTrade>();
  for (const { outcomeIndex, price: own, size, timestamp } of makers) {
    // Where a pair was minted or merged, both outcomes were traded, on the same side.
    const isTakers = Number(outcomeIndex) !== outcome;
    if (isTakers && Number(taker?.outcomeIndex) !== outcome) continue;
    const paid = Number(own);
    const price = isTakers ? Math.round((1 - paid) * PRICE_STEPS) / PRICE_STEPS : paid;
    const before = trades.get(price)?.size ?? 0;
    const at = Number(timestamp) * 1_000;
    const isSell = taker?.side === 'SELL';
    trades.set(price, { at, time: clockText(at), price, size: before + Number(size), isSell });
  }
  return [...trades.values()].reverse();
}
