/**
 * Composition of the operations of a running node: handlers, audit log, token.
 *
 * Thread: I/O. Not here: the operations themselves (server/admin).
 */

import { tokenMarket } from '../../engine/reads.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { KeyRow } from '../../storage/control-records/control-records.ts';
import { AuditLog } from '../../storage/operations/audit-log.ts';
import { StatementsReader } from '../../storage/projection/reader.ts';
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
import { conditionNamed, eventNamed } from '../catalog/named-rows.ts';
import type { Handover } from '../cluster/heartbeat.ts';
import type { Config } from '../config/config.ts';
import type { RateControl } from '../http/limits/rate-control.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import type { WalletOrders } from '../wallet/wallet-orders.ts';
import { marketParts } from './market-parts.ts';
import type { NodeParts } from './node-parts.ts';
import type { Start } from './start.ts';

interface OperatedParts {
  readonly orders: WalletOrders;
  readonly rates: RateControl | undefined;
  readonly ledger: LedgerCommands;
  /** `undefined` where no recording is played. */
  readonly play: SteppedClock | undefined;
}

/**
 * Returns `undefined` without an admin listener and without a cluster, where another node may forward
 * operations.
 */
export function openOperations(
  start: Start,
  parts: NodeParts,
  operated: OperatedParts,
): AdminOperations | undefined {
  const { config, log } = start.options;
  const { adminPort, adminToken, dataDir } = config;
  const { authority, catalog, control, writer } = parts;
  const { member } = authority;
  if (adminPort === 0 && member === undefined) return undefined;
  const audit = new AuditLog(dataDir);
  start.onClose(() => audit.close());
  const handlers = handlersOf(parts, operated, config);
  const operations = new Operations({
    handlers,
    audit,
    elsewhere: member?.operations.forwardTo(writer.applied),
    sequence: () => writer.applied.newest,
    resolve: resolverOf({
      wallet: (name) => control.names.find(name),
      market: (text) => conditionNamed(catalog.current.prepared, text),
      event: (text) => eventNamed(catalog.current.prepared, text),
    }),
    log: (line) => log('error', line),
  });
  member?.whenHandedOver((handover) => {
    if (handover.isAudited) return;
    recordHandover(audit, handover, config.nodeId).catch((error: Error) =>
      log('error', `audit log unavailable: ${error.message}`),
    );
  });
  member?.operations.serve(member.peers, (call) => operations.run(call));
  const token = adminToken === '' && adminPort !== 0 ? newToken(dataDir) : adminToken;
  return { token, run: (call) => operations.run(call) };
}

function handlersOf(
  parts: NodeParts,
  { ledger, orders, play, rates }: OperatedParts,
  { dataDir, resolveConfirm }: Config,
): OperationHandlers {
  const { authority, control, infos, registry, stores, tables, writer } = parts;
  const names = new AccountTexts(tables, (market) => infos.find(market));
  const keyRows = async (): Promise<Iterable<KeyRow>> => {
    await writer.whenProjected();
    return stores.controlRecords.keyRows();
  };
  const nameToken = (token: TokenRow) => {
    const { asset_id: token_id, market: condition_id, outcome } = names.token(token);
    const slug = infos.find(tokenMarket(tables, token))?.slug ?? '';
    return { token_id, condition_id, outcome, slug };
  };
  const market = { ...marketParts(parts, ledger), needsConfirm: resolveConfirm === 'always' };
  return {
    ...keyOperations(registry, keyRows, control.bans),
    ...orderOperations(orders, names),
    ...banOperations(control.bans, control.names, orders, Date.now),
    ...nameOperations(control.names),
    ...walletListOperations({
      t: tables,
      sequenceLock: writer.sequenceLock,
      names: control.names,
      bans: control.bans,
    }),
    ...pauseOperations(control, Date.now),
    ...limitOperations(rates),
    ...auditOperations(dataDir),
    ...clusterOperations(authority.member?.control()),
    ...statementOperations({
      t: tables,
      names,
      statements: new StatementsReader(stores.projections),
      entryAt: (number) => stores.derived.entries.get(number),
    }),
    ...ledgerOperations({ ...market, nameToken }),
    ...depositOperations(market),
    ...marketOperations(market),
    ...resolutionOperations(market),
    ...playOperations(play),
  };
}

/** Writes the audit entry of a handover that the former leader could not write, or made by itself. */
async function recordHandover(
  audit: AuditLog,
  { by, from, reasons }: Handover,
  to: string,
): Promise<void> {
  const route = 'POST /admin/cluster/handover';
  const id = await audit.begin({ actor: by, route, body: { from, to, reasons } });
  await audit.end(id, 200);
}
