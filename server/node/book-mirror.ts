/**
 * Composition of the book mirror of a source. Loaded only with MIRROR_URL or PLAY, or where price levels of a
 * source have to be removed.
 *
 * Thread: I/O. Not here: the mirror itself (server/paper).
 */
import assert from 'node:assert/strict';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { sourceLevels } from '../../engine/reads.ts';
import type { Payout } from '../../storage/catalog/payout.ts';
import { type Caller, OperationRefused } from '../admin/operation-row.ts';
import { RESOLUTION_OPERATIONS } from '../admin/resolution-operations.ts';
import { handlersOf } from '../http/route.ts';
import { outcomeNames } from '../market-data/registered.ts';
import { BookMirror } from '../paper/book-mirror.ts';
import { NodeBroker } from '../paper/node-broker.ts';
import { Settlements } from '../paper/settlements.ts';
import { SourceApi, type SourceMarket, streamOf } from '../paper/source-api.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import { marketParts } from './market-parts.ts';
import type { NodeParts } from './node-parts.ts';
import type { Start } from './start.ts';

interface BrokerOptions {
  readonly name?: 'mirror' | 'play';
  /** First tokens of markets whose trades are inferred. */
  readonly inferred?: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

const NONE: ReadonlySet<string> = new Set();

const MS = 1_000;
const REFRESH_MS_MAX = 60_000;

/** Removes price levels that a source had when the node ended, before the port opens. */
export async function removeOldLevels(start: Start, parts: NodeParts): Promise<void> {
  if (sourceLevels(parts.tables) === 0 || parts.writer.ledger === undefined) return;
  await start.wait('levels of a source to leave the books', brokerOf(start, parts).clear());
}

/** Starts the mirror, once the port is open; `undefined` on a read-only node. */
export async function openMirror(start: Start, parts: NodeParts): Promise<BookMirror | undefined> {
  const { config, log } = start.options;
  const { ledger } = parts.writer;
  if (ledger === undefined) return undefined;
  assert(ledgerIsOn(parts.tables), 'settings that need a ledger were refused without one');
  const closing = new AbortController();
  const { catalogSyncUrl, mirrorMarkets, mirrorRate, mirrorUrl } = config;
  const api = new SourceApi(mirrorUrl, catalogSyncUrl, closing.signal);
  const broker = brokerOf(start, parts, { signal: closing.signal });
  await broker.fund(ledger, config.mirrorFunds, Date.now());
  const resolve = resolving(parts, ledger);
  const settlements = new Settlements({
    api,
    log,
    resolve,
    aligned: (market) => broker.aligned(market),
    isSettled: (condition) => broker.isSettled(condition),
    isProposed: (condition) => broker.isProposed(condition),
    unsettled: () => broker.unsettled(),
    onClosed: (market) => {
      if (!broker.hasEnded(market)) broker.pull();
    },
  });
  const mirror = new BookMirror({
    api,
    choice: mirrorMarkets,
    log,
    rate: mirrorRate,
    url: mirrorUrl,
    node: broker,
    traded: broker.traded(),
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

export function brokerOf(
  start: Start,
  parts: NodeParts,
  { inferred = NONE, name = 'mirror', signal = new AbortController().signal }: BrokerOptions = {},
): NodeBroker {
  const { config, log } = start.options;
  const { infos, sync, tables, writer } = parts;
  return new NodeBroker({
    tables,
    inferred,
    name,
    log,
    signal,
    namesOf: (market) => outcomeNames(tables, market, infos.find(market)),
    impact: config.mirrorImpact,
    queue: config.mirrorQueue,
    source: writer.source,
    whenBatchesDone: writer.whenBatchesDone,
    pull: () => sync?.pull(),
  });
}

/** The source decides, so the audit log has no entry of it. */
const SOURCE: Caller = {
  actor: 'the source',
  role: 'operator',
  isAudited: false,
  file: new Uint8Array(),
};

/** Returns a function that resolves a market as an operator does: in the engine first, then in the catalog. */
export function resolving(
  parts: Pick<
    NodeParts,
    'catalog' | 'clock' | 'control' | 'edits' | 'infos' | 'repairs' | 'tables' | 'writer'
  >,
  ledger: LedgerCommands,
) {
  const operations = handlersOf(RESOLUTION_OPERATIONS, {
    ...marketParts(parts, ledger),
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
