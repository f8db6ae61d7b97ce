/**
 * A simple market maker: a bid and an ask around a fair price, which it lowers by a tick after a
 * buy and raises by a tick after a sale. It trades with play money, and so should you.
 *
 *   npm run example -- maker [token]
 */
import { fromMicro, toMicro } from '../client/client.ts';
import { placeOf, stopped } from './arguments.ts';

const SPREAD_TICKS = 2n;
const SIZE = '20';
const EVERY_MS = 2_000;

const { client, title, tokenId } = await placeOf(process.argv.slice(2));
const book = await client.marketData.book(tokenId);
const tick = toMicro(book.tick_size);
const [bid, ask] = [book.bids.at(-1)?.price ?? '0', book.asks.at(-1)?.price ?? '1'];
let worth = ((toMicro(bid) + toMicro(ask)) / 2n / tick) * tick;
console.log(`${title}: begins at ${fromMicro(worth)}`);

let isStale = true;
const stream = await client.followUser({
  trade: ({ maker_orders, price, size, status }) => {
    if (status !== 'MATCHED') return;
    for (const { side } of maker_orders) worth += side === 'BUY' ? -tick : tick;
    isStale = true;
    console.log(`filled: ${maker_orders[0]?.side} ${size} at ${price}`);
  },
  missed: () => {
    isStale = true;
  },
});

/** Cancels both quotes, and places new ones around the fair price. */
async function quote(): Promise<void> {
  isStale = false;
  await client.orders.cancelAll();
  const away = (tick * SPREAD_TICKS) / 2n;
  const quotes = [
    { side: 'BUY', price: fromMicro(worth - away) },
    { side: 'SELL', price: fromMicro(worth + away) },
  ] as const;
  console.log(
    `quotes ${quotes.map(({ price, side }) => `${side} ${SIZE} at ${price}`).join(', ')}`,
  );
  const terms = { tokenId, size: SIZE, postOnly: true };
  for (const { reason } of await client.orders.postAll(quotes.map((at) => ({ ...terms, ...at })))) {
    if (reason !== '') console.log(`refused: ${reason}`);
  }
}

let isRunning = true;
const end = stopped().then(() => {
  isRunning = false;
});
for (let heartAt = 0; isRunning; ) {
  if (isStale) await quote();
  // If this process dies, the node cancels its quotes.
  if (performance.now() - heartAt > EVERY_MS) {
    await client.orders.heartbeat();
    heartAt = performance.now();
  }
  await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 50))]);
}
await client.orders.cancelAll();
stream.close();
client.close();
