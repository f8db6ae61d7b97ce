/** A venue's money against the naive ledger: each wallet, its statement, and every sum. */
import assert from 'node:assert/strict';
import { until } from '../common/node-harness.ts';
import { verified } from '../common/verified.ts';
import { type DayVenue, type DayWallet, microOf } from './day-venue.ts';

interface Amounts {
  readonly total: string;
  readonly reserved: string;
  readonly free: string;
}

interface Balance {
  readonly cash: Amounts;
  readonly positions: readonly (Amounts & { readonly token_id: string })[];
}

interface Statement {
  readonly data: readonly { readonly cash: string; readonly cash_after: string }[];
  readonly next_cursor: string;
}

const texts = (total: bigint, reserved: bigint): Amounts => ({
  total: String(total),
  reserved: String(reserved),
  free: String(total - reserved),
});

export function auditOf(venue: DayVenue) {
  const { ledger, markets, wallets } = venue;

  const compareWallet = async (wallet: DayWallet): Promise<void> => {
    const { number } = wallet;
    const { cash, positions } = (await venue.ask(wallet, '/ledger/balance')).json as Balance;
    assert.deepEqual(cash, texts(ledger.cashOf(number), ledger.reservedCash(number)));
    const own = markets.flatMap((market) =>
      market.catalog.tokenIds.map((token_id, outcome) => {
        const token = 2 * market.number - 1 + outcome;
        const total = ledger.sharesOf(number, token);
        return { token_id, ...texts(total, ledger.reservedShares(number, token)) };
      }),
    );
    const byToken = (a: { token_id: string }, b: { token_id: string }): number =>
      a.token_id < b.token_id ? -1 : 1;
    const held = own.filter(({ total }) => total !== '0').sort(byToken);
    assert.deepEqual([...positions].sort(byToken), held);
  };

  const sums = async (): Promise<Record<string, bigint>> => {
    const told = await venue.operate('GET /admin/ledger');
    const names = ['deposited', 'cash', 'collateral', 'fees', 'rounding', 'imbalance'];
    return Object.fromEntries(names.map((name) => [name, microOf(String(told[name]))]));
  };

  const compareAll = async (): Promise<void> => {
    await until(async () => (await venue.operate('GET /admin/ledger')).resolving === 0);
    await Promise.all(wallets.map(compareWallet));
    const add = (all: Iterable<bigint>): bigint => [...all].reduce((sum, each) => sum + each, 0n);
    const { deposited, fees, rounding } = ledger;
    const [cash, collateral] = [add(ledger.cash.values()), add(ledger.collateral.values())];
    assert.equal(cash + collateral + fees + rounding, deposited, 'the naive sums');
    const own = { deposited, cash, collateral, fees, rounding, imbalance: 0n };
    assert.deepEqual(await sums(), own);
  };

  /**
   * Checks entries from the newest on: each leads to the next balance, and all of them to the
   * wallet's.
   */
  const checkStatement = async (wallet: DayWallet): Promise<void> => {
    const has = ledger.cashOf(wallet.number);
    const page = async (cursor: string): Promise<Statement | undefined> => {
      const query = `?limit=1000${cursor === '' ? '' : `&next_cursor=${cursor}`}`;
      const { json, status } = await venue.ask(wallet, '/ledger/statement', query);
      return status === 200 ? (json as Statement) : undefined;
    };
    await until(async () => BigInt((await page(''))?.data[0]?.cash_after ?? -1) === has);
    let after = has;
    for (let cursor = ''; cursor !== 'LTE='; ) {
      const { data, next_cursor } = (await page(cursor))!;
      for (const { cash, cash_after } of data) {
        assert.equal(BigInt(cash_after), after, 'an entry has the running balance');
        after -= BigInt(cash);
      }
      cursor = next_cursor;
    }
    assert.equal(after, 0n, 'the statement begins with nothing');
  };

  /**
   * Checks that nothing rests, nothing is reserved, nobody has shares, and the directory is whole.
   */
  const checkEnd = async (dataDir: string): Promise<void> => {
    assert.equal(venue.open.size, 0);
    const { cash, collateral, deposited, fees, rounding } = await sums();
    assert.equal(collateral, 0n);
    assert.equal(cash! + fees! + rounding!, deposited);
    await Promise.all(wallets.map(checkStatement));
    await venue.operator.node.stop();
    await verified(dataDir);
  };

  return { compareAll, checkEnd };
}
