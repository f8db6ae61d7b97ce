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
import type { Role } from '../admin/access.ts';
import type { AdminOperations } from '../admin/listener.ts';
import { resolverOf } from '../admin/named-inputs.ts';
import { OPERATION_LISTS, type OperationHandlers, operationsOf } from '../admin/operation-table.ts';
import { Operations } from '../admin/operations.ts';
import type { SteppedClock } from '../admin/play-operations.ts';
import { newToken } from '../admin/token-file.ts';
import { conditionNamed, eventNamed } from '../catalog/market-info.ts';
import type { Handover } from '../cluster/heartbeat.ts';
import type { Config } from '../config/config.ts';
import type { Faults } from '../faults/faults.ts';
import type { RateControl } from '../http/limits/rate-control.ts';
import { handlersOfLists } from '../http/route.ts';
import type { Liquidity } from '../liquidity/liquidity.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import type { WalletOrders } from '../wallet/wallet-orders.ts';
import { rebateParts } from './daily-rebates.ts';
import { marketParts } from './market-parts.ts';
import type { NodeParts } from './node-parts.ts';
import type { Start } from './start.ts';

interface OperatedParts {
  readonly orders: WalletOrders;
  readonly rates: RateControl | undefined;
  /** `undefined` with FAULTS=off. */
  readonly faults: Faults | undefined;
  readonly ledger: LedgerCommands;
  readonly play: SteppedClock | undefined;
  /** `undefined` without a ledger. */
  readonly liquidity: Liquidity | undefined;
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
  const { adminPort, adminToken, dataDir, resolverToken } = config;
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
  const tokenOf = (role: Role, token: string): string =>
    token === '' && adminPort !== 0 ? newToken(dataDir, role) : token;
  const tokens = {
    operator: tokenOf('operator', adminToken),
    resolver: tokenOf('resolver', resolverToken),
  };
  return { tokens, run: (call) => operations.run(call) };
}

function handlersOf(
  parts: NodeParts,
  { faults, ledger, liquidity, orders, play, rates }: OperatedParts,
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
  const needsConfirm = resolveConfirm === 'always';
  const market = { ...marketParts(parts, ledger), needsConfirm, liquidity };
  const { bans } = control;
  return handlersOfLists(OPERATION_LISTS, {
    roles: operationsOf,
    keys: { registry, rows: keyRows, bans },
    orders: { orders, texts: names },
    bans: { bans, names: control.names, orders, now: Date.now },
    names: control.names,
    wallets: { t: tables, sequenceLock: writer.sequenceLock, names: control.names, bans },
    pause: { venue: control, now: Date.now },
    message: { venue: control, now: Date.now },
    limits: rates,
    faults: { faults, isCluster: authority.member !== undefined, t: tables },
    audit: dataDir,
    cluster: authority.member?.control(),
    rebates: rebateParts(parts, ledger),
    invites: market,
    statements: {
      t: tables,
      names,
      statements: new StatementsReader(stores.projections),
      entryAt: (number) => stores.derived.entries.get(number),
    },
    ledger: { ...market, nameToken },
    deposits: market,
    catalog: parts.edits,
    seasons: { ...market, nameSeason: control.nameSeason },
    markets: market,
    liquidity: market,
    resolutions: market,
    play,
  });
}

/** Writes the audit entry of a handover that the former leader could not write, or made by itself. */
async function recordHandover(
  audit: AuditLog,
  { by, from, reasons }: Handover,
  to: string,
): Promise<void> {
  const route = 'POST /admin/cluster/handover';
  const body = { from, to, reasons };
  const id = await audit.begin({ actor: by, role: 'operator', route, body });
  await audit.end(id, 200);
}
