/**
 * Records a book as JSON lines on standard output: every event of the stream, checked. After a line
 * `{"gap": ..}` a snapshot follows, so no loss of events goes unreported.
 *
 *   npm run --silent example -- recorder [token] > book.jsonl
 */
import { placeOf, stopped } from './arguments.ts';

const { client, title, tokenId } = await placeOf(process.argv.slice(2));
const write = (line: unknown): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};
let events = 0;
const stream = await client.followMarket([tokenId], {
  event: (event) => {
    events += 1;
    write(event);
  },
  gap: (gap) => write({ gap, at: Date.now() }),
});
console.error(`recording ${title}; Ctrl-C ends it`);
await stopped();
stream.close();
client.close();
console.error(`${events} events; ${stream.confirmed} snapshots confirmed what came before them`);
