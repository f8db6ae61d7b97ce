/**
 * Makes complete sets of cash, sells some of one outcome for what the book pays, merges the rest, and prints the
 * statement. The node needs a ledger and the wallet some cash: `npm start -- --play`.
 *
 *   WALLET_FILE=wallet.key npm run example -- sets [token]
 */
import { LiquidityError } from '../client/client.ts';
import { placeOf } from './arguments.ts';

const SETS = '20';
const SOLD = '10';

const { client, conditionId, title, tokenId } = await placeOf(process.argv.slice(2));
const { cash } = await client.ledger.balances();
console.log(`${title}: ${cash.free} of ${cash.total} in cash is free`);
const made = await client.ledger.split(conditionId, SETS);
console.log(`made ${made.amount} sets, ${made.cash} in cash is left`);
try {
  const sold = await client.orders.market({ tokenId, side: 'SELL', amount: SOLD });
  console.log(`sold ${sold.makingAmount} shares for ${sold.takingAmount}`);
} catch (error) {
  if (!(error instanceof LiquidityError)) throw error;
  console.log(`sold nothing: ${error.message}`);
}
const { free } = await client.balance(tokenId);
const merged = await client.ledger.merge(conditionId, free);
console.log(`merged ${merged.amount} sets, ${merged.cash} in cash is left`);
// The statement is derived from the log, a fraction of a second later.
for (let isThere = false; !isThere; await new Promise((resolve) => setTimeout(resolve, 100))) {
  for await (const { timestamp } of client.ledger.statement({ limit: 1 })) {
    isThere = timestamp >= Number(merged.timestamp);
    break;
  }
}
for await (const entry of client.ledger.statement()) {
  const { cash, cash_after, cause, outcome, shares } = entry;
  console.log(
    `${cause} ${outcome}: ${cash} in cash, ${shares} shares; ${cash_after} in cash after it`,
  );
}
client.close();
