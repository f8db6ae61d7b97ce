/**
 * The operations of a node that runs, put together: handlers, audit log, token.
 *
 * Thread: the I/O thread.
 */

import { tokenMarket } from '../../engine/reads.ts';
import type { MarketRow, TokenRow } from '../../engine/tables/units.ts';
import type { KeyRow } from '../../storage/notes/notes.ts';
import { AuditLog } from '../../storage/operations/audit-log.ts';
import { StatementsReader } from '../../storage/projection/reader.ts';
import type { WalletOrders } from '../account/wallet-orders.ts';
import { auditOperations } from '../admin/audit-operations.ts';
import { clusterOperations } from '../admin/cluster-operations.ts';
import { depositOperations } from '../admin/deposit-operations.ts';
import { keyOperations } from '../admin/key-operations.ts';
import { ledgerOperations } from '../admin/ledger-operations.ts';
import type { AdminOperations } from '../admin/listener.ts';
import { marketOperations } from '../admin/market-operations.ts';
import { resolverOf } from '../admin/named-inputs.ts';
import type { OperationHandlers } from '../admin/operation-table.ts';
import { Operations } from '../admin/operations.ts';
import { playOperations, type SteppedClock } from '../admin/play-operations.ts';
import { resolutionOperations } from '../admin/resolution-operations.ts';
import { statementOperations } from '../admin/statement-operations.ts';
import { newToken } from '../admin/token-file.ts';
import { limitOperations, pauseOperations } from '../admin/venue-operations.ts';
import { nameOperations, walletListOperations } from '../admin/wallet-list.ts';
import { banOperations, orderOperations } from '../admin/wallet-operations.ts';
import { marketStoryLookup } from '../catalog/market-info.ts';
import { conditionNamed, eventNamed } from '../catalog/named-rows.ts';
import type { Handover } from '../cluster/beat.ts';
import type { RateControl } from '../http/rate-control.ts';
import type { LedgerCommands } from '../ledger/ledger-commands.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import { outcomeNames } from '../market-data/registered.ts';
import type { CaughtUp } from './phases.ts';
import type { Start } from './start.ts';

interface OperatedParts
  extends Pick<
    CaughtUp,
    | 't'
    | 'catalog'
    | 'clock'
    | 'cluster'
    | 'followers'
    | 'infos'
    | 'noted'
    | 'registry'
    | 'stores'
    | 'venue'
    | 'writer'
  > {
  readonly orders: WalletOrders;
  readonly rates: RateControl | undefined;
  readonly ledger: LedgerCommands;
  /** Undefined where no recording is played. */
  readonly clockOfPlay: SteppedClock | undefined;
}

/** Undefined where nobody makes any: without an admin listener, and without other nodes that have one. */
export function openOperations(start: Start, parts: OperatedParts): AdminOperations | undefined {
  const { config } = start.options;
  const { adminPort, adminToken, dataDir, resolveConfirm } = config;
  const { cluster, infos, noted, orders, rates, registry, stores, t, writer } = parts;
  if (adminPort === 0 && cluster === undefined) return undefined;
  const audit = new AuditLog(dataDir);
  start.onClose(() => audit.close());
  const names = new AccountTexts(t, (market) => infos.find(market));
  const keyRows = async (): Promise<Iterable<KeyRow>> => {
    await writer.derived();
    return stores.kept.keyRows();
  };
  const handlers: OperationHandlers = {
    ...keyOperations(registry, keyRows, noted.bans),
    ...orderOperations(orders, names),
    ...banOperations(noted.bans, noted.names, orders, Date.now),
    ...nameOperations(noted.names),
    ...walletListOperations({ t, seqlock: writer.seqlock, names: noted.names, bans: noted.bans }),
    ...pauseOperations(noted, Date.now),
    ...limitOperations(rates),
    ...auditOperations(dataDir),
    ...clusterOperations(cluster?.control()),
    ...statementOperations({
      ...{ t, names, statements: new StatementsReader(stores.projections) },
      entryAt: (number) => stores.derived.entries.get(number),
    }),
    ...venueOperations(parts, names, resolveConfirm === 'always'),
    ...playOperations(parts.clockOfPlay),
  };
  const operations = new Operations({
    handlers,
    audit,
    elsewhere: cluster?.operations.forwardTo(writer.applied),
    sequence: () => writer.applied.newest,
    resolve: resolverOf({
      wallet: (name) => noted.names.find(name),
      market: (text) => conditionNamed(parts.catalog.current.prepared, text),
      event: (text) => eventNamed(parts.catalog.current.prepared, text),
    }),
    log: (line) => start.options.log('error', line),
  });
  cluster?.whenHandedOver((handover) => {
    if (handover.isAudited) return;
    recordHandover(audit, handover, config.nodeId).catch((error: Error) =>
      start.options.log('error', `audit log unavailable: ${error.message}`),
    );
  });
  cluster?.operations.serve(cluster.peers, (call) => operations.run(call));
  const token = adminToken === '' && adminPort !== 0 ? newToken(dataDir) : adminToken;
  return { token, run: (call) => operations.run(call) };
}

/** The entry of a handover that the node which led could not write, or made by itself. */
async function recordHandover(
  audit: AuditLog,
  { by, from, reasons }: Handover,
  to: string,
): Promise<void> {
  const route = 'POST /admin/cluster/handover';
  const id = await audit.begin({ actor: by, route, body: { from, to, reasons } });
  await audit.end(id, 200);
}

/** Operations on the ledger, on events and on markets. */
function venueOperations(operated: OperatedParts, names: AccountTexts, needsConfirm: boolean) {
  const { catalog, clock, followers, infos, ledger, t, venue, writer } = operated;
  const shared = { t, ledger, seqlock: writer.seqlock, now: clock.now };
  const eventOf = (condition: string): string | undefined =>
    marketStoryLookup(catalog.current.prepared)(condition)?.event.id;
  const unsaid = (condition: string): void => followers.repairs?.add([condition]);
  const namesOf = (market: MarketRow) => outcomeNames(t, market, infos.find(market));
  const slugOf = (market: MarketRow) => infos.find(market)?.slug;
  const parts = { ...shared, venue, eventOf, namesOf, slugOf, unsaid, needsConfirm };
  const nameToken = (token: TokenRow) => {
    const { asset_id: token_id, market: condition_id, outcome } = names.token(token);
    const slug = infos.find(tokenMarket(t, token))?.slug ?? '';
    return { token_id, condition_id, outcome, slug };
  };
  return {
    ...ledgerOperations({ ...shared, nameToken }),
    ...depositOperations(shared),
    ...marketOperations(parts),
    ...resolutionOperations(parts),
  };
}
