/** The leaderboard: wallets by profit, volume or Brier score over a day, a week, a month, a season or all time, and standings of seasons that are over. */
import { useSignal } from '@preact/signals';
import type { BrierRow } from '../../../../client/types.ts';
import { addressText, momentText, signedMoneyText, volumeText } from '../format.ts';
import { publicClient } from '../node/api.ts';
import { useLoaded } from '../node/load.ts';
import { address } from '../node/session.ts';
import { Choices } from '../parts/choices.tsx';
import { Waiting } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';

const PERIODS = [
  { value: 'day', text: 'Day' },
  { value: 'week', text: 'Week' },
  { value: 'month', text: 'Month' },
  { value: 'all', text: 'All time' },
] as const;
const WITH_SEASON = [
  ...PERIODS.slice(0, -1),
  { value: 'season', text: 'Season' },
  { value: 'all', text: 'All' },
] as const;
/** Seasons to choose from, the newest ones. */
const SEASONS = 100;
const SORTS = [
  { value: 'PNL', text: 'Profit' },
  { value: 'VOLUME', text: 'Volume' },
  { value: 'BRIER', text: 'Brier score' },
] as const;
const READ_AGAIN_MS = 15_000;
const ROWS = 50;

type Period = (typeof WITH_SEASON)[number]['value'];
type Sort = (typeof SORTS)[number]['value'];

const DECIMALS = 4;

interface Row {
  readonly rank: number;
  readonly user_id: string;
  readonly user_name: string;
}

interface SumsRow extends Row {
  readonly pnl: number;
  readonly volume: number;
}

interface Column<T> {
  readonly name: string;
  readonly text: (row: T) => string;
  readonly hue?: (row: T) => string;
}

const SUMS: readonly Column<SumsRow>[] = [
  {
    name: 'Profit',
    text: ({ pnl }) => signedMoneyText(pnl),
    hue: ({ pnl }) => (pnl < 0 ? 'is-sell' : 'is-buy'),
  },
  { name: 'Volume', text: ({ volume }) => volumeText(volume) },
];
const FORECASTS: readonly Column<BrierRow>[] = [
  { name: 'Brier score', text: ({ brier }) => brier.toFixed(DECIMALS) },
  { name: 'Markets', text: ({ markets }) => volumeText(markets) },
  { name: 'Shares', text: ({ shares }) => volumeText(shares) },
];

interface Season {
  readonly season: number;
  readonly name: string;
  readonly ended_at: number;
}

export function Leaderboard() {
  const seasons = useLoaded('seasons', readSeasons).value ?? [];
  /** Number of a season that is over; 0 = now. */
  const season = useSignal(0);
  const period = useSignal<Period>('all');
  const sort = useSignal<Sort>('PNL');
  const isNow = season.value === 0;
  const by = sort.value;
  const isBrier = isNow && by === 'BRIER';
  return (
    <div class="leaderboard">
      <h1>Leaderboard</h1>
      {seasons.length > 0 && (
        <label class="field">
          <span>Season</span>
          <select
            value={season.value}
            onChange={(event) => {
              season.value = Number(event.currentTarget.value);
            }}
          >
            <option value={0}>Now</option>
            {seasons.map(({ ended_at, name, season: number }) => (
              <option key={number} value={number}>
                {`${name === '' ? `Season ${number}` : name}, until ${momentText(ended_at)}`}
              </option>
            ))}
          </select>
        </label>
      )}
      {isNow && (
        <div class="pair">
          <Choices
            legend="Period"
            name="period"
            options={seasons.length > 0 ? WITH_SEASON : PERIODS}
            value={period.value}
            choose={(value) => {
              period.value = value;
            }}
          />
          <Choices
            legend="Order"
            name="sort"
            options={SORTS}
            value={sort.value}
            choose={(value) => {
              sort.value = value;
            }}
          />
        </div>
      )}
      {isBrier ? (
        <>
          <p class="muted intro">
            How near the prices of somebody’s trades were to the results: 0 is perfect, 0.25 is no
            better than always saying 50%. A rank needs three markets with a result, and 10 shares
            traded in them.
          </p>
          <Board
            name={`brier:${period.value}`}
            read={() => readBrier(period.value)}
            columns={FORECASTS}
            emptyText="Nobody has traded in three markets that got their result in this time."
          />
        </>
      ) : (
        <Board
          name={isNow ? `${by}:${period.value}` : `season:${season.value}`}
          read={() =>
            by === 'BRIER' || !isNow ? readStandings(season.value) : readBoard(period.value, by)
          }
          columns={SUMS}
          isFinal={!isNow}
          emptyText="Nobody has traded in this time."
        />
      )}
    </div>
  );
}

interface Shown<T> {
  readonly name: string;
  read(): Promise<readonly T[]>;
  readonly columns: readonly Column<T>[];
  readonly emptyText: string;
  /** True where the rows do not change any more. */
  readonly isFinal?: boolean;
}

function Board<T extends Row>({ columns, emptyText, isFinal, name, read }: Shown<T>) {
  const board = useLoaded(`board:${name}`, read, isFinal ? undefined : READ_AGAIN_MS);
  const own = address.value?.toLowerCase();
  if (board.value === undefined) return <Waiting of={board} />;
  if (board.value.length === 0) return <p class="muted">{emptyText}</p>;
  return (
    <Table
      label="Leaderboard, table"
      caption="Leaderboard"
      isCaptionHidden
      columns={['Rank', 'Who', ...columns.map((column) => column.name)]}
    >
      {board.value.map((row) => (
        <tr key={row.user_id} data-own={row.user_id === own || undefined}>
          <td>{row.rank}</td>
          <th scope="row">
            {row.user_name === '' ? addressText(row.user_id) : row.user_name}
            {row.user_id === own && ' (you)'}
          </th>
          {columns.map(({ hue, name: column, text }) => (
            <td key={column} class={hue?.(row)}>
              {text(row)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

async function readBoard(time_period: Period, sort_by: Exclude<Sort, 'BRIER'>) {
  const client = await publicClient();
  const query = { time_period, sort_by, limit: ROWS };
  const { data } = await client.call('GET /v2/leaderboard', { query });
  return isList(data) ? data : [];
}

async function readBrier(time_period: Period): Promise<readonly BrierRow[]> {
  const client = await publicClient();
  const query = { time_period, limit: ROWS };
  const { data } = await client.call('GET /v2/leaderboard/brier', { query });
  return isList(data) ? data : [];
}

/** False for the answer about one wallet. */
function isList<T>(data: readonly T[] | object | null): data is readonly T[] {
  return Array.isArray(data);
}

async function readSeasons(): Promise<readonly Season[]> {
  const client = await publicClient();
  const { data } = await client.call('GET /seasons', { query: { limit: SEASONS } });
  return data;
}

async function readStandings(season: number): Promise<readonly SumsRow[]> {
  const client = await publicClient();
  const { data } = await client.call('GET /seasons/:season', { path: { season } });
  return data.map(({ name, profit, rank, volume, wallet }) => ({
    rank,
    user_id: wallet,
    user_name: name,
    pnl: Number(profit),
    volume: Number(volume),
  }));
}
