/**
 * The latest trades of an outcome, newest first: those of the node's list, then those of the stream. Rows stay, and their
 * texts move on; a number aligned to the right is a new cell, because browsers take one that grows for a shift of layout.
 */
import { useEffect, useState } from 'preact/hooks';
import type { NodeClient } from '../../../../client/client.ts';
import { clockText, priceText, sharesText } from '../format.ts';
import { publicClient } from '../node/api.ts';
import { onTrade, type TapeTrade } from '../node/follow.ts';
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
  const [trades, setTrades] = useState<readonly TapeTrade[]>([]);
  useEffect(() => {
    let isOver = false;
    setTrades([]);
    const since = Date.now();
    const stop = onTrade((of, trade) => {
      if (of === token) setTrades((before) => [trade, ...before].slice(0, ROWS));
    });
    readTrades(market.conditionId, outcome).then(
      (read) => {
        if (isOver) return;
        setTrades((added) => {
          const newest = read[0]?.at ?? 0;
          const missing = added.filter(({ at }) => at > Math.max(newest, since - 1_000));
          return [...missing, ...read].slice(0, ROWS);
        });
      },
      () => undefined,
    );
    return () => {
      isOver = true;
      stop();
    };
  }, [token]);
  if (trades.length === 0) return <p class="muted">No trade yet</p>;
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
          {trades.map(({ at, id, isSell, price, size }, row) => (
            <tr key={row}>
              <td>{clockText(at)}</td>
              <td class={isSell ? 'is-sell' : 'is-buy'}>{isSell ? '▼ Sell' : '▲ Buy'}</td>
              <td key={`price ${id}`}>{priceText(price, decimals)}</td>
              <td key={`size ${id}`}>{sharesText(size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
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
  const trades = [...matches.values()].flatMap((match) => tradesOf(match, outcome));
  return trades.map((trade, i) => ({ ...trade, id: `list ${i}` }));
}

/**
 * Trades of an outcome in a match, the last price first. Only rows of makers count, because the taker's has an average.
 * @param match its rows, the taker's first
 */
function tradesOf([taker, ...makers]: Rows, outcome: number): Omit<TapeTrade, 'id'>[] {
  const trades = new Map<number, Omit<TapeTrade, 'id'>>();
  for (const { outcomeIndex, price: own, size, timestamp } of makers) {
    // Where a pair was minted or merged, both outcomes were traded, on the same side.
    const isTakers = Number(outcomeIndex) !== outcome;
    if (isTakers && Number(taker?.outcomeIndex) !== outcome) continue;
    const paid = Number(own);
    const price = isTakers ? Math.round((1 - paid) * PRICE_STEPS) / PRICE_STEPS : paid;
    const before = trades.get(price)?.size ?? 0;
    const at = Number(timestamp) * 1_000;
    trades.set(price, { at, price, size: before + Number(size), isSell: taker?.side === 'SELL' });
  }
  return [...trades.values()].reverse();
}
