/**
 * `venue export`: people, trades and markets of a directory as CSV or Parquet, one row at a time. Wallets and results come
 * from tables that log and snapshots lead to, profit and volume from the projections. Columns:
 * docs/guides/operations.md#export-a-venue
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  cashTotal,
  type MarketResolution,
  proposalOf,
  resolutionOf,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { accountCount, conditionAt, marketCount, marketFlags } from '../../engine/reads.ts';
import { ID_WORDS, MarketFlag, SOURCE_ADDRESS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow } from '../../engine/tables/units.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { PROJECTIONS, Projections } from '../../storage/projection/environment.ts';
import { HOUR_MS } from '../../storage/projection/periods.ts';
import { Volume } from '../../storage/projection/results.ts';
import { microOf, type Sums } from '../../storage/projection/sums.ts';
import { COLLATERAL, SHARES } from '../../storage/projection/volumes.ts';
import { plainColumn, textColumn } from '../../storage/texts/csv.ts';
import { microText } from '../common/decimal.ts';
import { wordsToHex } from '../common/uint256.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import { microsText } from '../wallet/money.ts';
import type { Context, Run } from './context.ts';
import { formatOf, type RowTable, rowChunks } from './row-files.ts';
import { storedControlRecords } from './stored-control-records.ts';
import { storedMarkets, storedNames } from './stored-names.ts';
import { type Stored, TRADES, trades, withStored } from './trades-command.ts';

interface Person {
  readonly wallet: string;
  readonly name: string;
  readonly operatorName: string;
  /** Unix milliseconds. */
  readonly joined: number;
  readonly cash: number;
  readonly profit: bigint;
  readonly volumes: readonly bigint[];
}

interface MarketOf {
  readonly condition: string;
  readonly market: CatalogMarket | undefined;
  readonly state: string;
  readonly result: string;
  readonly volume: Sums | undefined;
}

const HOUR_END = 2 ** 32 - 1;
const PROGRESS_ROWS = 1_024;

const PEOPLE: RowTable<Person> = {
  columns: {
    wallet: plainColumn(({ wallet }) => wallet),
    name: textColumn(({ name }) => name),
    operator_name: textColumn(({ operatorName }) => operatorName),
    joined: plainColumn(({ joined }) => joined),
    cash: plainColumn(({ cash }) => microText(cash)),
    profit: plainColumn(({ profit }) => microsText(profit)),
    volume: plainColumn(({ volumes }) => microsText(volumes[Volume.shares] ?? 0n)),
    volume_collateral: plainColumn(({ volumes }) => microsText(volumes[Volume.collateral] ?? 0n)),
    trades: plainColumn(({ volumes }) => String(volumes[Volume.trades] ?? 0n)),
  },
  types: {
    joined: 'time',
    cash: 'decimal',
    profit: 'decimal',
    volume: 'decimal',
    volume_collateral: 'decimal',
    trades: 'integer',
  },
};
const MARKETS: RowTable<MarketOf> = {
  columns: {
    market: plainColumn(({ market }) => market?.id ?? ''),
    condition: plainColumn(({ condition }) => condition),
    event: textColumn(({ market }) => market?.eventSlug),
    slug: textColumn(({ market }) => market?.slug),
    question: textColumn(({ market }) => market?.question),
    outcomes: textColumn(({ market }) => market?.outcomes.join(' | ')),
    state: plainColumn(({ state }) => state),
    result: textColumn(({ result }) => result),
    volume: plainColumn(({ volume }) => sumText(volume, SHARES)),
    volume_collateral: plainColumn(({ volume }) => sumText(volume, COLLATERAL)),
  },
  types: { volume: 'decimal', volume_collateral: 'decimal' },
};

export const exportVenue: Run = async (context, [into = ''], options) => {
  const format = formatOf(options, '', ['csv', 'parquet']);
  const { dataDir, durability, progress, stdout } = context;
  const directory = resolve(into);
  const names = await storedNames(context);
  const projections = existsSync(join(dataDir, PROJECTIONS))
    ? new Projections(dataDir, { durability, readOnly: true })
    : undefined;
  try {
    if (projections?.position()?.isWhole !== true) {
      throw new Error(`${dataDir} has no whole projections: let a node start on it once`);
    }
    const isOf = { people: await peopleOf(context), markets: await marketsOf(context) };
    await withStored(context, async (stored) => {
      await mkdir(directory, { recursive: true });
      const put = async <Row>(table: string, of: RowTable<Row>, rows: Iterable<Row>) => {
        const name = `${table}.${format}`;
        await writeWhole(join(directory, name), rowChunks(format, of, rows));
        progress.clear();
        stdout.line(join(into, name));
      };
      await put('people', PEOPLE, isOf.people(stored, projections));
      await put('markets', MARKETS, isOf.markets(stored, projections));
      await put('trades', TRADES, trades(context, stored, { names }));
    });
    return 'done';
  } finally {
    await projections?.close();
  }
};

async function peopleOf({ dataDir, progress }: Context) {
  const display = new Map<string, string>();
  const given = new Map<string, string>();
  for (const record of await storedControlRecords(dataDir)) {
    if (record.about !== 'profile' && record.about !== 'name') continue;
    const key = `0x${Buffer.from(record.address).toString('hex')}`;
    (record.about === 'profile' ? display : given).set(key, record.name);
  }
  function* rows({ t }: Stored, { results, statements }: Projections): Generator<Person> {
    const texts = new AccountTexts(t, () => undefined);
    const source = findAccount(t, SOURCE_ADDRESS, 0);
    const count = accountCount(t);
    for (let account = 1 as AccountRow; account <= count; account++) {
      if (account % PROGRESS_ROWS === 0) progress.show('people', account, count);
      const [first] = results.volume.points(account, 0, HOUR_END, 1);
      const joined = statements.firstTime(account) ?? (first && first.hour * HOUR_MS);
      // An account that signs for wallets has neither entries nor trades.
      if (joined === undefined || account === source) continue;
      const wallet = texts.wallet(account);
      const key = wallet.toLowerCase();
      yield {
        wallet,
        name: display.get(key) ?? '',
        operatorName: given.get(key) ?? '',
        joined,
        cash: cashTotal(t, account),
        profit: results.profit.sumsOf(account)?.[0] ?? 0n,
        volumes: results.volume.sumsOf(account) ?? [],
      };
    }
  }
  return rows;
}

async function marketsOf(context: Context) {
  const listed = await storedMarkets(context);
  const byCondition = new Map(listed.map((market) => [market.conditionId, market]));
  function* rows({ t }: Stored, { volumes }: Projections): Generator<MarketOf> {
    const sums = new Map<number, Sums>();
    volumes.read(
      (market, total) => sums.set(market, total),
      () => undefined,
    );
    for (let row = 1 as MarketRow; row <= marketCount(t); row++) {
      const condition = wordsToHex(t.marketI, conditionAt(row), ID_WORDS);
      const market = byCondition.get(condition);
      const resolution = resolutionOf(t, row);
      const result = resolution === undefined ? '' : resultOf(resolution, market?.outcomes ?? []);
      yield { condition, market, state: stateOf(t, row), result, volume: sums.get(row) };
    }
  }
  return rows;
}

function stateOf(t: Tables, row: MarketRow): string {
  const resolution = resolutionOf(t, row);
  if (resolution !== undefined) return resolution.isDone ? 'resolved' : 'resolving';
  if (proposalOf(t, row) !== undefined) return 'proposed';
  const flags = marketFlags(t, row);
  if ((flags & MarketFlag.ended) !== 0) return 'closed';
  return (flags & MarketFlag.tradable) === 0 ? 'halted' : 'open';
}

/** Name of the outcome that gets all; `void`; else each outcome with its weight. */
function resultOf({ isVoid, sum, weights }: MarketResolution, outcomes: readonly string[]): string {
  if (isVoid) return 'void';
  const nameOf = (i: number): string => outcomes[i] ?? `outcome ${i + 1}`;
  const winner = weights.indexOf(sum);
  if (winner !== -1) return nameOf(winner);
  return weights.map((weight, i) => `${nameOf(i)} ${weight}`).join(', ');
}

function sumText(sums: Sums | undefined, at: number): string {
  return sums === undefined ? '0' : microText(microOf(sums, at));
}
