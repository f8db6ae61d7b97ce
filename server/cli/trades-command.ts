/**
 * `trades export`: fills as CSV, JSON lines or Parquet. Wallets and tokens come from tables rebuilt from snapshot and log.
 * Fills are also read from LMDB, so those that have left memory are included.
 */

import { createWriteStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  type FillRows,
  fillCount,
  fillFeeCollateral,
  fillFeeShares,
  fillKind,
  fillMaker,
  fillMakerCollateral,
  fillMakerIdAt,
  fillMakerPrice,
  fillMakerToken,
  fillMatch,
  fillRowsOf,
  fillSize,
  fillTaker,
  fillTakerCollateral,
  fillTakerIdAt,
  fillTakerPrice,
  fillTakerSide,
  fillTakerToken,
  fillTime,
  isPrint,
  ONLY_FILL,
} from '../../engine/reads.ts';
import { ID_WORDS, MatchKind } from '../../engine/tables/codes.ts';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { type DerivedTables, openDerivedTables } from '../../storage/projection/derived.ts';
import { StoredFills } from '../../storage/projection/fills.ts';
import { type Rebuilt, rebuild } from '../../storage/recovery/rebuild.ts';
import { plainColumn, textColumn } from '../../storage/texts/csv.ts';
import { checksumAddress } from '../auth/checksum.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { tradeIdOf } from '../common/trade-ids.ts';
import { wordsToHex } from '../common/uint256.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { formatOf, type RowTable, rowChunks } from './row-files.ts';
import { configOf, numberOf, textOf, timeOf, tokenOf } from './settings.ts';
import { type StoredNames, storedNames, storedWallet } from './stored-names.ts';

const KINDS = ['complementary', 'mint', 'merge'] satisfies (keyof typeof MatchKind)[];
const SIDES = ['BUY', 'SELL'] as const;
const PROGRESS_ROWS = 16_384;

export interface Trade {
  readonly sequence: number;
  readonly rows: FillRows;
  readonly texts: AccountTexts;
  readonly outcome: StoredNames['outcome'];
}

/** Columns of a line: amounts are decimal texts, times unix milliseconds. */
const TRADE_COLUMNS = {
  sequence: ({ sequence }: Trade) => sequence,
  trade_id: ({ rows }: Trade) => tradeIdOf(fillMatch(rows, ONLY_FILL)),
  time: ({ rows }: Trade) => fillTime(rows, ONLY_FILL),
  kind: ({ rows }: Trade) =>
    isPrint(rows, ONLY_FILL) ? 'print' : KINDS[fillKind(rows, ONLY_FILL)]!,
  market: ({ rows, texts }: Trade) => texts.token(fillTakerToken(rows, ONLY_FILL)).market,
  size: ({ rows }: Trade) => microText(fillSize(rows, ONLY_FILL)),
  taker_side: ({ rows }: Trade) => SIDES[fillTakerSide(rows, ONLY_FILL)]!,
  taker_token: ({ rows, texts }: Trade) => texts.token(fillTakerToken(rows, ONLY_FILL)).asset_id,
  taker_price: ({ rows }: Trade) => pipsText(fillTakerPrice(rows, ONLY_FILL)),
  taker_collateral: ({ rows }: Trade) => microText(fillTakerCollateral(rows, ONLY_FILL)),
  taker_fee: ({ rows }: Trade) =>
    microText(fillFeeShares(rows, ONLY_FILL) + fillFeeCollateral(rows, ONLY_FILL)),
  taker: ({ rows, texts }: Trade) => texts.wallet(fillTaker(rows, ONLY_FILL)),
  taker_order: ({ rows }: Trade) => wordsToHex(rows.fillI, fillTakerIdAt(ONLY_FILL), ID_WORDS),
  maker_side: (trade: Trade) => SIDES[makerSide(trade)]!,
  maker_token: ({ rows, texts }: Trade) => texts.token(fillMakerToken(rows, ONLY_FILL)).asset_id,
  maker_price: ({ rows }: Trade) => pipsText(fillMakerPrice(rows, ONLY_FILL)),
  maker_collateral: ({ rows }: Trade) => microText(fillMakerCollateral(rows, ONLY_FILL)),
  maker: ({ rows, texts }: Trade) => texts.wallet(fillMaker(rows, ONLY_FILL)),
  maker_order: ({ rows }: Trade) => wordsToHex(rows.fillI, fillMakerIdAt(ONLY_FILL), ID_WORDS),
  taker_outcome: (trade: Trade) => trade.outcome(TRADE_COLUMNS.taker_token(trade)),
  maker_outcome: (trade: Trade): string => trade.outcome(TRADE_COLUMNS.maker_token(trade)),
  taker_fee_unit: ({ rows }: Trade) =>
    fillFeeShares(rows, ONLY_FILL) > 0 ? 'shares' : 'collateral',
};

export const TRADES: RowTable<Trade> = {
  columns: Object.fromEntries(
    Object.entries<(trade: Trade) => string | number>(TRADE_COLUMNS).map(([name, read]) => [
      name,
      (/_outcome$/.test(name) ? textColumn : plainColumn)(read),
    ]),
  ),
  types: {
    sequence: 'integer',
    time: 'time',
    size: 'decimal',
    taker_price: 'decimal',
    taker_collateral: 'decimal',
    taker_fee: 'decimal',
    maker_price: 'decimal',
    maker_collateral: 'decimal',
  },
  /** That of JSON lines, so that scripts read either by lines. */
  lineEnd: '\n',
};

/** Side of the maker. A mint or merge matches two orders of one side, of opposite tokens. */
function makerSide({ rows }: Trade): number {
  const side = fillTakerSide(rows, ONLY_FILL);
  return fillKind(rows, ONLY_FILL) === MatchKind.complementary ? 1 - side : side;
}

export const exportTrades: Run = async (context, [file = '-'], options) => {
  const format = formatOf(options, file, ['csv', 'jsonl', 'parquet']);
  if (format === 'parquet' && file === '-' && context.stdout.isTerminal)
    throw new Refused('Parquet is no text for a terminal: name a FILE');
  const names = await storedNames(context);
  const matches = filterOf(options, names, await walletOf(context, options));
  const limit = numberOf(textOf(options, 'limit') ?? String(Number.MAX_SAFE_INTEGER), '--limit');
  await withStored(context, async (stored) => {
    const chunks = rowChunks(format, TRADES, trades(context, stored, { matches, limit, names }));
    if (file === '-') await pipeline(chunks, context.stdout.dataStream());
    else if (isFile(file)) await writeWhole(file, chunks);
    else await pipeline(chunks, createWriteStream(file));
  });
  return 'done';
};

/** Past of a directory: facts, and the tables that log and snapshots lead to. */
export interface Stored extends Pick<Rebuilt, 'firstFill' | 't'> {
  readonly derived: DerivedTables;
}

export async function withStored(
  context: Context,
  use: (stored: Stored) => Promise<void>,
): Promise<void> {
  const { dataDir, durability, progress } = context;
  if (!existsSync(join(dataDir, 'derived'))) {
    throw new Error(`${dataDir} holds no fills: is it a DATA_DIR on which a node has run?`);
  }
  // Opened first, so that the facts are never ahead of the tables.
  const derived = openDerivedTables(dataDir, { durability, readOnly: true });
  try {
    const { capacities } = configOf(context);
    const onProgress = (done: number, total: number): void =>
      progress.show('reading the log', done, total);
    await use({ derived, ...rebuild({ dataDir, capacities, onProgress }) });
  } finally {
    await derived.root.close();
  }
}

type Filter = (trade: Trade) => boolean;

async function walletOf(context: Context, options: Options): Promise<string | undefined> {
  const text = textOf(options, 'wallet');
  if (text === undefined) return undefined;
  return checksumAddress(await storedWallet(context, text, '--wallet'));
}

function filterOf(options: Options, names: StoredNames, wallet: string | undefined): Filter {
  const filters: Filter[] = [];
  const on = (name: string, filter: (text: string) => Filter): void => {
    const text = textOf(options, name);
    if (text !== undefined) filters.push(filter(text));
  };
  on('token', (text) => {
    const token = tokenOf(text);
    const { maker_token, taker_token } = TRADE_COLUMNS;
    return (trade) => taker_token(trade) === token || maker_token(trade) === token;
  });
  on('market', (text) => {
    const market = names.condition(text);
    return (trade) => TRADE_COLUMNS.market(trade) === market;
  });
  on('wallet', () => (trade) => {
    return TRADE_COLUMNS.taker(trade) === wallet || TRADE_COLUMNS.maker(trade) === wallet;
  });
  on('side', (text) => {
    const side = SIDES.indexOf(text.toUpperCase() as (typeof SIDES)[number]);
    if (side === -1) throw new Refused(`--side must be BUY or SELL, not "${text}"`);
    return ({ rows }) => fillTakerSide(rows, ONLY_FILL) === side;
  });
  on('since', (text) => {
    const since = timeOf(text, '--since');
    return ({ rows }) => fillTime(rows, ONLY_FILL) >= since;
  });
  on('until', (text) => {
    const until = timeOf(text, '--until');
    return ({ rows }) => fillTime(rows, ONLY_FILL) < until;
  });
  return (trade) => filters.every((filter) => filter(trade));
}

interface Export {
  readonly matches?: Filter;
  readonly limit?: number;
  readonly names: StoredNames;
}

/** All fills that match, oldest first. */
export function* trades(
  { progress, stderr }: Pick<Context, 'progress' | 'stderr'>,
  { derived, firstFill, t }: Stored,
  { limit = Number.POSITIVE_INFINITY, matches = () => true, names }: Export,
): Generator<Trade> {
  const end = fillCount(t);
  const texts = new AccountTexts(t, () => undefined);
  const fills = new StoredFills(t, derived.fills, firstFill);
  let written = 0;
  let next = 0;
  for (const [sequence, bytes] of fills.range(0, end)) {
    if (sequence > next) stderr.line(`fills ${next} to ${sequence - 1} are not kept any more`);
    next = sequence + 1;
    if (sequence % PROGRESS_ROWS === 0) progress.show('fills', sequence, end);
    if (written === limit) break;
    const trade = { sequence, rows: fillRowsOf(bytes), texts, outcome: names.outcome };
    if (!matches(trade)) continue;
    written += 1;
    yield trade;
  }
}

/** True when the path is a file or would become one. Pipes and devices are written directly. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}
