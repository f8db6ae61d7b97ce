/**
 * GET /v2/resolutions: state and payout of markets, from the engine; times from the catalog.
 *
 * Thread: I/O.
 */
import { proposalOf, resolutionOf } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { MICRO } from '../../engine/tables/units.ts';
import {
  marketAt,
  rowOfCondition,
  rowsOfQuestion,
  type ShownMarket,
} from '../catalog/market-info.ts';
import type { PreparedCatalog } from '../catalog/prepared.ts';
import { marketByCondition } from '../market-data/find.ts';
import { type DataParts, dataRoute } from './envelope.ts';
import { conditionsOfEvents, type EventMarkets } from './event-markets.ts';
import { conditions, eventIds, hash } from './parameters.ts';
import { textsOf } from './row-texts.ts';
import { DataResolutions } from './schemas.ts';

export interface ResolutionParts extends DataParts, EventMarkets {
  readonly tables: Tables;
  readonly prepared: () => PreparedCatalog;
}

const RESOLVED = 'resolved';
const PROPOSED = 'proposed';
const POSED = 'posed';
const NO_TIME = '1970-01-01T00:00:00Z';

export const RESOLUTION_ROUTES = [
  dataRoute(
    'GET /v2/resolutions',
    {
      does: 'state of the resolution of markets: one of `question_id condition event_id`',
      parameters: { question_id: hash(), condition: conditions(), event_id: eventIds() },
      data: DataResolutions,
      check({ condition, event_id, question_id }) {
        const given = [question_id !== '', condition !== null, event_id !== null];
        return given.filter(Boolean).length === 1
          ? undefined
          : {
              parameter: 'condition',
              rule: 'give exactly one of question_id, condition and event_id',
            };
      },
    },
    async (parts: ResolutionParts, { condition, event_id, question_id }) => {
      const prepared = parts.prepared();
      const ids = event_id === null ? (condition ?? []) : await conditionsOfEvents(parts, event_id);
      const rows =
        question_id === ''
          ? ids.flatMap((id) => rowOfCondition(prepared, id) ?? [])
          : rowsOfQuestion(prepared, question_id);
      const texts = await textsOf(rows, (row) =>
        JSON.stringify(resolution(parts.tables, marketAt(prepared, row))),
      );
      return `[${texts.join(',')}]`;
    },
  ),
];

function resolution(tables: Tables, shown: ShownMarket): object {
  const { closedTime, conditionId, createdAt, resolutionNote, umaResolutionStatus, updatedAt } =
    shown;
  const market = marketByCondition(tables, conditionId);
  const payout = market === 0 ? undefined : resolutionOf(tables, market);
  const isResolved = payout !== undefined || umaResolutionStatus === RESOLVED;
  const isProposed = market !== 0 && proposalOf(tables, market) !== undefined;
  const changed = updatedAt ?? createdAt ?? NO_TIME;
  return {
    condition_id: conditionId,
    status: isResolved ? RESOLVED : isProposed ? PROPOSED : POSED,
    extended_review: false,
    was_disputed: false,
    new_version_q: false,
    transaction_hash: '',
    log_index: '',
    last_update_timestamp: isResolved ? (closedTime ?? changed) : changed,
    ...(payout === undefined
      ? {}
      : { payouts: payout.weights.map((weight) => Math.floor((weight * MICRO) / payout.sum)) }),
    ...(isResolved
      ? { resolution_source: 'reported', was_arbitrated: false, resolved_at: closedTime ?? changed }
      : {}),
    ...(resolutionNote !== undefined && { resolution_note: resolutionNote }),
  };
}
