/**
 * The mirror of another venue, put together from the parts of a node that runs. Loaded only where there is something
 * to mirror, or levels of a source to remove.
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { sourceLevels } from '../../engine/reads.ts';
import type { Payout } from '../../storage/catalog/payout.ts';
import { OperationRefused } from '../admin/operation-row.ts';
import { resolutionOperations } from '../admin/resolution-operations.ts';
import { marketStoryLookup } from '../catalog/market-info.ts';
import type { LedgerCommands } from '../ledger/ledger-commands.ts';
import { outcomeNames } from '../market-data/registered.ts';
import { Mirror } from '../paper/mirror.ts';
import { NodeVenue } from '../paper/node-venue.ts';
import { Settlements } from '../paper/settlements.ts';
import { SourceApi, type SourceMarket, streamOf } from '../paper/source-api.ts';
import type { CaughtUp } from './phases.ts';
import type { Start } from './start.ts';
import type { Writer } from './writer.ts';

interface VenueOptions {
  readonly name?: 'mirror' | 'play';
  /** First tokens of markets whose trades are inferred. */
  readonly inferred?: ReadonlySet<string>;
  /** Ends what waits. */
  readonly signal?: AbortSignal;
}

const NONE: ReadonlySet<string> = new Set();

const MS = 1_000;
/** How often a source is asked for its choice of markets, at most. */
const REFRESH_MS_MAX = 60_000;

/** Before the port opens: nobody may trade with what a source had when the node ended. */
export async function removeOldLevels(start: Start, parts: CaughtUp): Promise<void> {
  const { t, writer } = parts;
  if (sourceLevels(t) === 0 || writer.ledger === undefined) return;
  await start.wait('levels of a source to leave the books', venueOf(start, parts).clear());
}

/** Begins to mirror, once the port is open; undefined where that cannot be. */
export async function openMirror(start: Start, parts: CaughtUp): Promise<Mirror | undefined> {
  const { config, log } = start.options;
  const { t, writer } = parts;
  const { ledger } = writer;
  if (ledger === undefined) return undefined;
  assert(ledgerIsOn(t), 'settings that need a ledger were refused without one');
  const closing = new AbortController();
  const { catalogSyncUrl, mirrorMarkets, mirrorRate, mirrorUrl } = config;
  const api = new SourceApi(mirrorUrl, catalogSyncUrl, closing.signal);
  const own = venueOf(start, parts, { signal: closing.signal });
  await own.fund(ledger, config.mirrorFunds, Date.now());
  const resolve = resolving(parts, { ledger, seqlock: writer.seqlock });
  const settlements = new Settlements({
    ...{ api, log, resolve },
    aligned: (market) => own.aligned(market),
    isSettled: (condition) => own.isSettled(condition),
    isProposed: (condition) => own.isProposed(condition),
    unsettled: () => own.unsettled(),
    onClosed: (market) => {
      if (!own.hasEnded(market)) own.pull();
    },
  });
  const mirror = new Mirror({
    ...{ api, choice: mirrorMarkets, log, rate: mirrorRate, url: mirrorUrl, venue: own },
    traded: own.traded(),
    streamUrl: config.mirrorStreamUrl || streamOf(mirrorUrl),
    settle: (conditions) => settlements.settle(conditions),
    refreshMs: Math.min(REFRESH_MS_MAX, config.catalogSyncSeconds * MS),
  });
  start.onClose(async () => {
    closing.abort();
    await start.wait('the mirror to end', mirror.close());
  });
  return mirror;
}

export function venueOf(
  start: Start,
  parts: CaughtUp,
  { inferred = NONE, name = 'mirror', signal = new AbortController().signal }: VenueOptions = {},
): NodeVenue {
  const { config, log } = start.options;
  const { infos, sync, t, writer } = parts;
  return new NodeVenue({
    ...{ tables: t, inferred, name, log, signal },
    namesOf: (market) => outcomeNames(t, market, infos.find(market)),
    impact: config.mirrorImpact,
    queue: config.mirrorQueue,
    source: writer.source,
    whenBatchesDone: writer.whenBatchesDone,
    pull: () => sync?.pull(),
  });
}

/** No operator asks for what the source decides, and the audit log has no entry of it. */
const SOURCE = { actor: 'the source', isAudited: false };

/** The operation of an operator: engine first, then the catalog says so. */
export function resolving(
  parts: Pick<CaughtUp, 'catalog' | 'clock' | 'followers' | 'infos' | 't' | 'venue'>,
  writer: { readonly ledger: LedgerCommands; readonly seqlock: Writer['seqlock'] },
) {
  const { catalog, clock, followers, infos, t, venue } = parts;
  const operations = resolutionOperations({
    ...{ t, venue, ledger: writer.ledger, seqlock: writer.seqlock, now: clock.now },
    eventOf: (condition) => marketStoryLookup(catalog.current.prepared)(condition)?.event.id,
    namesOf: (market) => outcomeNames(t, market, infos.find(market)),
    slugOf: (market) => infos.find(market)?.slug,
    unsaid: (condition) => followers.repairs?.add([condition]),
    // Its source has decided.
    needsConfirm: false,
  });
  return async (
    { condition, tokens }: SourceMarket,
    payout: Payout,
  ): Promise<string | undefined> => {
    const result =
      payout === 'void'
        ? await operations['POST /admin/markets/void']({ condition }, SOURCE)
        : await operations['POST /admin/markets/resolve'](
            { condition, payouts: Object.fromEntries(tokens.map((it, i) => [it, payout[i]!])) },
            SOURCE,
          );
    if (!(result instanceof OperationRefused)) return undefined;
    return `${result.error} ${result.detail}`.trim();
  };
}
