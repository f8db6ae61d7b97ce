/**
 * `trades export`: fills as CSV or JSON lines. Wallets and tokens are looked up in the tables, which are
 * rebuilt from image and log; fills come from LMDB as well, so also those that have left memory.
 */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Fill, ID_WORDS, MatchKind, State } from '../../engine/tables/layout.ts';
import type { Pips } from '../../engine/tables/units.ts';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { StoredFills } from '../../storage/projection/fills.ts';
import { rebuild } from '../../storage/recovery/rebuild.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { checksumAddress } from '../identity/checksum.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import { tradeIdOf } from '../market-data/match-ids.ts';
import type { Context, Options, Run } from './context.ts';
import { Refused } from './exit-codes.ts';
import { addressOf, conditionOf, configOf, numberOf, textOf, timeOf, tokenOf } from './settings.ts';

const KINDS = ['complementary', 'mint', 'merge'] satisfies (keyof typeof MatchKind)[];
const SIDES = ['BUY', 'SELL'] as const;
const FORMATS: Readonly<Record<string, Format>> = {
  csv: {
    head: (names) => `${names.join(',')}\n`,
    line: (row) => `${Object.values(row).join(',')}\n`,
  },
  jsonl: { head: () => '', line: (row) => `${JSON.stringify(row)}\n` },
};
const PROGRESS_ROWS = 16_384;
/** Lines are written together up to so many characters. */
const CHUNK_LENGTH = 1 << 16;

interface Format {
  readonly head: (names: readonly string[]) => string;
  readonly line: (row: Record<Column, string | number>) => string;
}

/** A fill as the columns read it. */
class FillRow {
  sequence = 0;
  private row: Buffer = Buffer.alloc(0);
  readonly texts: AccountTexts;

  constructor(texts: AccountTexts) {
    this.texts = texts;
  }

  of(sequence: number, row: Buffer): this {
    this.sequence = sequence;
    this.row = row;
    return this;
  }

  double(column: number): number {
    return this.row.readDoubleLE(8 * column);
  }

  word(column: number): number {
    return this.row.readInt32LE(4 * column);
  }

  id(column: number): string {
    let hex = '0x';
    for (let w = 0; w < ID_WORDS; w++) {
      hex += (this.word(column + w) >>> 0).toString(16).padStart(8, '0');
    }
    return hex;
  }
}

/** What a line holds: amounts in shares and collateral as decimal texts, times in unix milliseconds. */
const TRADE_COLUMNS = {
  sequence: (row: FillRow) => row.sequence,
  trade_id: (row: FillRow) => tradeIdOf(row.double(Fill.match)),
  time: (row: FillRow) => row.double(Fill.time),
  kind: (row: FillRow) => KINDS[row.word(Fill.kind)]!,
  market: (row: FillRow) => row.texts.token(row.word(Fill.takerToken)).market,
  size: (row: FillRow) => microText(row.double(Fill.size)),
  taker_side: (row: FillRow) => SIDES[row.word(Fill.takerSide)]!,
  taker_token: (row: FillRow) => row.texts.token(row.word(Fill.takerToken)).asset_id,
  taker_price: (row: FillRow) => pipsText(row.word(Fill.takerPrice) as Pips),
  taker_collateral: (row: FillRow) => microText(row.double(Fill.takerCollateral)),
  taker_fee: (row: FillRow) => microText(row.double(Fill.fee)),
  taker: (row: FillRow) => row.texts.wallet(row.word(Fill.taker)),
  taker_order: (row: FillRow) => row.id(Fill.takerId),
  maker_side: (row: FillRow) => SIDES[makerSide(row)]!,
  maker_token: (row: FillRow) => row.texts.token(row.word(Fill.makerToken)).asset_id,
  maker_price: (row: FillRow) => pipsText(row.word(Fill.makerPrice) as Pips),
  maker_collateral: (row: FillRow) => microText(row.double(Fill.makerCollateral)),
  maker: (row: FillRow) => row.texts.wallet(row.word(Fill.maker)),
  maker_order: (row: FillRow) => row.id(Fill.makerId),
} as const;

type Column = keyof typeof TRADE_COLUMNS;
const COLUMNS = Object.entries(TRADE_COLUMNS) as [Column, (row: FillRow) => string | number][];

/** A mint or merge meets two orders of one side, of opposite tokens. */
function makerSide(row: FillRow): number {
  const side = row.word(Fill.takerSide);
  return row.word(Fill.kind) === MatchKind.complementary ? 1 - side : side;
}

export const exportTrades: Run = async (context, [file = '-'], options) => {
  const name = textOf(options, 'format') ?? 'csv';
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format === undefined)
    throw new Refused('usage', `--format must be csv or jsonl, not "${name}"`);
  const matches = filterOf(options);
  const limit = numberOf(textOf(options, 'limit') ?? String(Number.MAX_SAFE_INTEGER), '--limit');
  const { dataDir, durability } = context;
  if (!existsSync(join(dataDir, 'derived'))) {
    throw new Error(`${dataDir} holds no fills: is it a DATA_DIR on which a node has run?`);
  }
  // First: what is derived then is never ahead of the tables.
  const derived = openDerivedTables(dataDir, { durability, readOnly: true });
  try {
    const lines = linesOf(context, { derived, format, matches, limit });
    if (file === '-') await writeTo(context.stdout, lines);
    else if (isFile(file)) await writeWhole(file, together(lines));
    else await pipeline(lines, createWriteStream(file));
    return 'done';
  } finally {
    await derived.root.close();
  }
};

type Filter = (row: FillRow) => boolean;

function filterOf(options: Options): Filter {
  const filters: Filter[] = [];
  const on = (name: string, filter: (text: string) => Filter): void => {
    const text = textOf(options, name);
    if (text !== undefined) filters.push(filter(text));
  };
  on('token', (text) => {
    const token = tokenOf(text);
    const { maker_token, taker_token } = TRADE_COLUMNS;
    return (row) => taker_token(row) === token || maker_token(row) === token;
  });
  on('market', (text) => {
    const market = conditionOf(text);
    return (row) => TRADE_COLUMNS.market(row) === market;
  });
  on('wallet', (text) => {
    const wallet = checksumAddress(addressOf(text, '--wallet'));
    return (row) => TRADE_COLUMNS.taker(row) === wallet || TRADE_COLUMNS.maker(row) === wallet;
  });
  on('side', (text) => {
    const side = SIDES.indexOf(text.toUpperCase() as (typeof SIDES)[number]);
    if (side === -1) throw new Refused('usage', `--side must be BUY or SELL, not "${text}"`);
    return (row) => row.word(Fill.takerSide) === side;
  });
  on('since', (text) => {
    const since = timeOf(text, '--since');
    return (row) => row.double(Fill.time) >= since;
  });
  on('until', (text) => {
    const until = timeOf(text, '--until');
    return (row) => row.double(Fill.time) < until;
  });
  return (row) => filters.every((filter) => filter(row));
}

interface Choice {
  readonly derived: ReturnType<typeof openDerivedTables>;
  readonly format: Format;
  readonly matches: Filter;
  readonly limit: number;
}

function* linesOf(
  context: Context,
  { derived, format, limit, matches }: Choice,
): Generator<string> {
  const { dataDir, progress, stderr } = context;
  const { capacities } = configOf(context);
  const { firstFill, t } = rebuild({
    dataDir,
    capacities,
    onProgress: (done, total) => progress.show('reading the log', done, total),
  });
  const end = t.state[State.fills]!;
  const row = new FillRow(new AccountTexts(t, () => undefined));
  const fills = new StoredFills(t, derived.fills, firstFill);
  yield format.head(COLUMNS.map(([name]) => name));
  let written = 0;
  let next = 0;
  for (const [sequence, bytes] of fills.range(0, end)) {
    if (sequence > next) stderr.write(`fills ${next} to ${sequence - 1} are not kept any more\n`);
    next = sequence + 1;
    if (sequence % PROGRESS_ROWS === 0) progress.show('fills', sequence, end);
    if (written === limit) break;
    if (!matches(row.of(sequence, bytes))) continue;
    written += 1;
    const cells = COLUMNS.map(([name, read]) => [name, read(row)] as const);
    yield format.line(Object.fromEntries(cells) as Record<Column, string | number>);
  }
}

/** What is there, or what would be made; a pipe or a device is written to as it is. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

function* together(lines: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** Standard output stays open. */
async function writeTo(stream: Writable, lines: Iterable<string>): Promise<void> {
  await pipeline(lines, stream, { end: false });
}
