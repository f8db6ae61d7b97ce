/**
 * `npm start` with a source that obeys requests, as a script for tests. POST a list of LineOfSource
 * to the second port that it prints; the answer has a reason for each line, or the reason of a
 * refusal of all.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  CommandBuffer,
  encodeFill,
  encodeFunds,
  encodeLevel,
  encodePrint,
  Side,
} from '../../engine/commands.ts';
import { findToken } from '../../engine/markets/markets.ts';
import { ADDRESS_WORDS, ID_WORDS, REQUEST_KEY_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MicroShares, Pips } from '../../engine/tables/units.ts';
import { bytesToWords, decimalToWords } from '../../server/common/uint256.ts';
import { readConfig } from '../../server/config/config.ts';
import { startNode } from '../../server/node/node.ts';

export type LineOfSource =
  /** A level or print at pips of a token. */
  | {
      readonly kind: 'level' | 'print';
      readonly token: string;
      readonly side: 'buy' | 'sell';
      readonly pips: number;
      readonly size: number;
    }
  | { readonly kind: 'fill'; readonly order: string; readonly size: number }
  | { readonly kind: 'deposit'; readonly wallet: string; readonly amount: number };

let requests = 0;

function encode(out: CommandBuffer, t: Tables, line: LineOfSource): void {
  switch (line.kind) {
    case 'fill':
      encodeFill(out, words(line.order, ID_WORDS), line.size as MicroShares);
      return;
    case 'deposit': {
      requests += 1;
      const key = new Int32Array(REQUEST_KEY_WORDS).fill(requests);
      const id = { isOperator: true, ms: Date.now(), key };
      const wallet = words(line.wallet, ADDRESS_WORDS);
      encodeFunds(out, 'deposit', { id, wallet, amount: line.amount });
      return;
    }
    default: {
      const id = new Int32Array(ID_WORDS);
      decimalToWords(line.token, id, 0);
      const fields = {
        token: findToken(t, id, 0),
        side: Side[line.side],
        pips: line.pips as Pips,
        size: line.size as MicroShares,
      };
      if (line.kind === 'level') encodeLevel(out, fields);
      else encodePrint(out, fields);
    }
  }
}

function words(hex: string, count: number): Int32Array {
  return bytesToWords(Buffer.from(hex.slice(2), 'hex'), new Int32Array(count));
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
const read = readConfig(process.env, [], 1);
if (!read.ok) throw new Error(read.problems.join('\n'));
const node = await startNode({
  config: read.config,
  log: (level, line) => say(`${level} ${line}`),
  onFatal: (error) => {
    say(`stopping: ${error.message}`);
    process.exit(1);
  },
});
const server = createServer((request, response) => {
  void text(request).then(async (body) => {
    const out = new CommandBuffer();
    for (const line of JSON.parse(body) as LineOfSource[]) encode(out, node.facts().tables, line);
    response.end(JSON.stringify(await node.source(out)));
  });
});
server.listen(0, '127.0.0.1', () => {
  say(`source on 127.0.0.1:${(server.address() as AddressInfo).port}`);
  say(`listening on http://127.0.0.1:${node.port}`);
});
process.on('SIGTERM', () => void node.close().then(() => process.exit(0)));
