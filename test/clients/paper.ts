/**
 * Packages that paper-trade: one node has a book, another one mirrors it. A bot trades play money
 * there while somebody trades at the source. Each package has a market of its own.
 */
import assert from 'node:assert/strict';
import { OperatorNode } from '../admin/operator-node.ts';
import {
  type BookJson,
  book,
  books,
  get,
  levels,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import type { Call } from './calls.ts';
import type { MoneyClient, MoneyPackage } from './money.ts';

export interface Mirror {
  readonly operator: OperatorNode;
  readonly maker: MoneyClient;
  /** First outcome of each market. */
  readonly tokens: readonly string[];
}

interface PositionJson {
  readonly asset: string;
  readonly size: number;
}

const MICRO = 1_000_000;
const BOOK = '100@0.4 | 100@0.6';
const PROFILE = { CLIENT_PROFILE: 'polymarket' };

/** @param used package whose client trades at the source */
export async function openMirror(used: MoneyPackage): Promise<Mirror> {
  const sourceDir = temporaryDirectory();
  const markets = await withMarkets(sourceDir, [{ id: 1 }, { id: 2 }]);
  const tokens = markets.map(({ tokenIds }) => tokenIds[0]!);
  const source = await TestNode.start(sourceDir, PROFILE);
  const MIRROR_URL = `http://127.0.0.1:${source.port}`;
  const key = `0x${'51'.repeat(32)}`;
  const maker = await used.join(MIRROR_URL, key, 0, used.address(key));
  for (const token of tokens) {
    await maker.order({ token, side: 'BUY', price: 0.4, size: 100 });
    await maker.order({ token, side: 'SELL', price: 0.6, size: 100 });
  }
  const settings = { ...PROFILE, LEDGER: 'on', FAUCET: '1000', MIRROR_URL };
  const operator = await OperatorNode.start(temporaryDirectory(), settings);
  await until(async () => {
    const shown = (await books(operator.node, tokens)).map(textOf);
    return shown.length === tokens.length && shown.every((text) => text === BOOK);
  });
  return { operator, maker, tokens };
}

function textOf({ asks, bids }: BookJson): string {
  return [...levels(bids), '|', ...levels(asks)].join(' ');
}

/**
 * Fills 10 shares of the source's offer, and 20 that somebody sells at the source below the bid of
 * the bot.
 */
export async function paperCalls(
  { maker, operator: { node }, tokens }: Mirror,
  used: MoneyPackage,
  index: 0 | 1,
): Promise<readonly Call[]> {
  const { names, statuses } = used;
  const token = tokens[index]!;
  const key = `0x${`5${index + 2}`.repeat(32)}`;
  const wallet = used.address(key);
  const bot = await used.join(`http://127.0.0.1:${node.port}`, key, 0, wallet);
  const shows = async (text: string): Promise<void> =>
    until(async () => textOf(await book(node, token)) === text);
  const owns = async (cash: number, shares: number): Promise<void> => {
    assert.deepEqual(
      [await bot.balance(), await bot.balance(token)],
      [String(cash * MICRO), String(shares * MICRO)],
    );
    const path = `/data/positions?user=${wallet}`;
    await until(async () => {
      const [position] = (await get(node, path)).json as readonly PositionJson[];
      return position?.asset === token && position.size === shares;
    });
  };
  const bid = { token, side: 'BUY', price: 0.5, size: 20 } as const;
  const rows: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      `${names.order}, at the offer of the source`,
      async () => {
        const { status } = await bot.order({ ...bid, price: 0.6, size: 10 });
        assert.equal(status, statuses.filled);
        await shows('100@0.4 | 90@0.6');
      },
    ],
    [`${names.balance}, and the position, after it`, () => owns(994, 10)],
    [
      `${names.order}, inside the spread of the source`,
      async () => {
        assert.equal((await bot.order(bid)).status, statuses.rests);
        await shows('100@0.4 20@0.5 | 90@0.6');
      },
    ],
    [
      `${names.openOrders}, until a trade at the source has gone through its price`,
      async () => {
        assert.equal((await bot.openOrders(token)).length, 1);
        await maker.order({ ...bid, side: 'SELL', price: 0.4, size: 30 });
        await until(async () => (await bot.openOrders(token)).length === 0);
        await shows('70@0.4 | 90@0.6');
      },
    ],
    [`${names.balance}, and the position, after that trade`, () => owns(984, 30)],
    [
      names.fills,
      async () => {
        const fills = [...(await bot.fills(token))].sort(([one], [two]) => one - two);
        assert.deepEqual(fills, [
          [0.5, 20],
          [0.6, 10],
        ]);
      },
    ],
    [
      names.cancel,
      async () => {
        const { id } = await bot.order({ ...bid, side: 'SELL', price: 0.55, size: 30 });
        await shows('70@0.4 | 90@0.6 30@0.55');
        await bot.cancel(id);
        assert.deepEqual(await bot.openOrders(token), []);
        await shows('70@0.4 | 90@0.6');
      },
    ],
  ];
  return rows.map(([name, run]) => ({ name, run }));
}
