/**
 * GET /v2/approvals and /v2/status, and the lists of programs that this node does not run, which are empty.
 *
 * Thread: I/O.
 */
import { type PositionsReader, ProjectionUnready } from '../../storage/projection/reader.ts';
import { type TSchema, Type } from '../common/schema.ts';
import { approvalsOf, type Exchanges } from '../wallet/approval-table.ts';
import { type DataParts, dataRoute, listRoute } from './envelope.ts';
import {
  between,
  choice,
  conditions,
  type ParameterTable,
  required,
  wallet,
} from './parameters.ts';
import { DataApprovals, DataStatus } from './schemas.ts';

export interface ServiceParts extends DataParts {
  readonly chainId: number;
  readonly exchanges: Exchanges;
  readonly positions: PositionsReader;
  /** Newest applied batch sequence, which stands for a block. */
  readonly newest: () => number;
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
}

const PERIODS = ['day', 'week', 'month', 'all'] as const;
const DIRECTIONS = ['ASC', 'DESC'] as const;
const BUCKETS_MAX = 90;
const BUCKETS_USUAL = 30;
/** Decimals of a second. */
const MILLISECONDS = /\.\d+Z$/;

const MECHANISMS = ['activity_feed', 'custody_balances', 'pnl'];

export const SERVICE_ROUTES = [
  dataRoute(
    'GET /v2/approvals',
    {
      does: 'approvals of a wallet, which all count as given: `user`',
      parameters: { user: required(wallet(true)) },
      data: DataApprovals,
    },
    ({ chainId, exchanges, now }: ServiceParts, { user }) =>
      JSON.stringify({
        address: user,
        chain_id: chainId,
        checked_at: timeText(now()),
        contracts: approvalsOf(exchanges),
      }),
  ),
  dataRoute(
    'GET /v2/status',
    { does: 'how fresh positions and feeds are', parameters: {}, data: DataStatus },
    ({ chainId, newest, now, positions }: ServiceParts) => {
      if (!positions.isComplete()) throw new ProjectionUnready();
      return JSON.stringify({
        computed_at: timeText(now()),
        age_seconds: 0,
        serving: {
          lag_seconds: 0,
          worst: MECHANISMS[0],
          mechanisms: MECHANISMS.map((name) => ({ name, age_seconds: 0 })),
        },
        ingestion: { cursors: 1, chain_id: chainId, max_synced_block: newest(), lagging: [] },
      });
    },
  ),
  emptyList('GET /v2/builders/leaderboard', {
    does: 'builders by volume: none, an empty list: `time_period`',
    parameters: { time_period: choice(PERIODS, 'day') },
    order: ['time_period'],
  }),
  dataRoute(
    'GET /v2/builders/volume',
    {
      does: 'volumes of builders: none, an empty list: `interval limit`',
      parameters: {
        interval: { ...choice(PERIODS, 'day'), aliases: ['time_period', 'timePeriod'] },
        limit: between(1, BUCKETS_MAX, BUCKETS_USUAL),
      },
      data: emptyRows(),
    },
    (_: ServiceParts) => '[]',
  ),
  emptyList('GET /v2/activity/combos', {
    does: 'activity of a wallet in combinations: none, an empty list: `user condition`',
    parameters: { user: required(wallet(true)), condition: conditions() },
  }),
  emptyList('GET /v2/positions/combos', {
    does: 'positions of a wallet in combinations: none, an empty list: `user condition status sort_by sort_direction`',
    parameters: {
      user: required(wallet(true)),
      condition: conditions(),
      sort_by: choice(['FIRST_ENTRY', 'ENTRY_COST', 'CURRENT_VALUE', 'UPDATED'], ''),
      sort_direction: choice(DIRECTIONS, 'DESC'),
    },
    order: ['sort_by', 'sort_direction'],
  }),
];

interface EmptyList<Table extends ParameterTable> {
  readonly does: string;
  readonly parameters: Table;
  readonly order?: readonly (keyof Table & string)[];
}

/** No cursor of it is ever issued, so none is valid. */
function emptyList<const Key extends `GET /v2/${string}`, Table extends ParameterTable>(
  key: Key,
  definition: EmptyList<Table>,
) {
  const shapes = { item: Type.Unknown(), position: Type.Tuple([Type.Never()]) };
  return listRoute(key, { ...definition, ...shapes }, (_: ServiceParts) => ({
    items: [],
    next: null,
  }));
}

function emptyRows(): TSchema {
  return Type.Array(Type.Unknown(), { maxItems: 0 });
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(MILLISECONDS, 'Z');
}
