/**
 * What a start brings about before the port opens, as commands of the node's own: configuration
 * that changes results, the markets of the catalog, and on a first start the demo.
 *
 * Thread: the I/O thread.
 */

import { CommandBuffer, encodeConfigure } from '../../engine/commands.ts';
import { SelfTrade } from '../../engine/context.ts';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { engineSettings, lastBatch, marketCount } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { CatalogKeeper, type CatalogKeeperOptions } from '../catalog/catalog-keeper.ts';
import { writeCatalog } from '../catalog/snapshot.ts';
import { keyOf, rowsNamed } from '../catalog/text-index.ts';
import type { EpochSettings } from '../cluster/epoch-record.ts';
import type { Config } from '../config/config.ts';
import type { Separators } from '../identity/exchange-domains.ts';
import { applyCommands } from '../orders/own-commands.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import { appendDemoFunds, appendDemoOrders } from './demo-books.ts';
import { demoCatalog } from './demo-catalog.ts';

const SELF_TRADE: Readonly<Record<Config['selfTrade'], number>> = {
  allow: SelfTrade.allow,
  'cancel-taker': SelfTrade.cancelTaker,
  'cancel-maker': SelfTrade.cancelMaker,
  'cancel-both': SelfTrade.cancelBoth,
};

/** What the leader of a cluster begins its epoch with. */
export function epochSettings(config: Config): EpochSettings {
  const { ledger, openOrdersPerAccount, walletsPerSigner } = config;
  return {
    selfTrade: SELF_TRADE[config.selfTrade],
    openOrdersPerAccount,
    walletsPerSigner,
    ledger,
  };
}

/**
 * Compares the environment with the state; a difference becomes a logged command. Whether there is a ledger
 * is said in the first batch alone.
 */
export async function applyConfiguration(
  config: Config,
  t: Tables,
  sequencer: Sequencer,
): Promise<void> {
  const selfTrade = SELF_TRADE[config.selfTrade];
  const { history } = config.capacities;
  const now = engineSettings(t);
  const isSame =
    now.selfTrade === selfTrade &&
    now.history === history &&
    now.openOrdersPerAccount === config.openOrdersPerAccount &&
    now.walletsPerSigner === config.walletsPerSigner &&
    now.orderRowsMax === t.orderRows;
  // The first batch of all says it in any case: the log must not depend on an environment.
  if (isSame && lastBatch(t) !== 0) return;
  const out = new CommandBuffer(16);
  const { openOrdersPerAccount, walletsPerSigner } = config;
  const ledger = lastBatch(t) === 0 ? config.ledger : now.ledger;
  encodeConfigure(
    out,
    selfTrade,
    history,
    openOrdersPerAccount,
    t.orderRows,
    walletsPerSigner,
    ledger,
  );
  const [reason] = await applyCommands(sequencer, out.i32.slice(0, out.words));
  if (reason !== RejectReason.accepted)
    throw new Error(`the configuration was refused by rule ${reason}`);
}

/**
 * Opens the catalog; on the first start of a new directory it is the demo, unless one is there or is
 * mirrored from elsewhere.
 */
export async function openStartupCatalog(
  config: Config,
  t: Tables,
  separators: Separators,
  options: CatalogKeeperOptions,
): Promise<CatalogKeeper> {
  const wantsDemo = config.demo && config.catalogSyncUrl === '';
  const mayWrite = options.sequencer !== undefined && options.leads();
  const isDemo = wantsDemo && mayWrite && marketCount(t) === 0;
  if (!isDemo) return CatalogKeeper.open(options);
  const demo = readDemo();
  if (options.store.current() === undefined) {
    await writeCatalog(options.store, demo);
    options.log('info', `demo catalog: ${demo.markets.length} markets`);
  }
  return CatalogKeeper.open(options, ({ commands, prepared }) => {
    const first = demo.markets[0]!.conditionId;
    const conditions = prepared.markets.keys.conditionId!;
    if (rowsNamed(conditions, keyOf('number', first)).length === 0) return commands;
    // One batch with the registrations: a kill leaves both or neither.
    const out = new CommandBuffer();
    if (ledgerIsOn(t)) appendDemoFunds(demo.markets, out);
    appendDemoOrders(demo.markets, 1 as TokenRow, separators, out);
    const batch = Int32Array.from([...commands[0]!, ...out.i32.subarray(0, out.words)]);
    return [batch, ...commands.slice(1)];
  });
}

/** The demo's catalog. */
export function readDemo(): Catalog {
  const read = readCatalog(demoCatalog());
  if (!read.ok) throw new Error(`demo catalog: ${read.error}`);
  return read.catalog;
}
