/**
 * Buys the fewest shares that the market allows, at the best ask, and prints the result. It repeats
 * the order if the connection fails, and still buys only once.
 *
 *   npm run example -- taker [token]
 */
import { placeOf } from './arguments.ts';

const { client, title, tokenId } = await placeOf(process.argv.slice(2));
const book = await client.marketData.book(tokenId);
const ask = book.asks.at(-1);
const size = book.min_order_size;
console.log(title);
if (ask === undefined) {
  console.log('nobody sells it: a bid of half a unit rests');
} else {
  console.log(`best ask: ${ask.size} shares at ${ask.price}`);
}
const placed = await client.orders.post({
  tokenId,
  side: 'BUY',
  price: ask?.price ?? '0.5',
  size,
  type: ask === undefined ? 'GTC' : 'FAK',
});
console.log(`order ${placed.id}: ${placed.status}${placed.reason && `, ${placed.reason}`}`);
if (placed.status === 'matched') {
  const { makingAmount: paid, takingAmount: bought } = placed;
  console.log(`bought ${bought} shares for ${paid}`);
}
client.close();
