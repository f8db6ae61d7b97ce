/**
 * Internal commands of a start, before the port opens: settings that change results, the markets of the
 * catalog, and on a first start the demo.
 *
 * Thread: I/O. Not here: the effects of the commands (engine).
 */
import {
  CommandBuffer,
  encodeConfigure,
  encodeWalletLimits,
  type WalletLimits,
} from '../../engine/commands.ts';
import { SelfTrade } from '../../engine/context.ts';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { engineSettings, lastBatch, marketCount } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { MICRO, type TokenRow } from '../../engine/tables/units.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { separatorsOf } from '../auth/exchange-domains.ts';
import {
  CatalogService,
  type CatalogServiceOptions,
  type LoadedFirst,
} from '../catalog/catalog-service.ts';
import { writeCatalog } from '../catalog/snapshot.ts';
import { keyOf, rowsNamed } from '../catalog/text-index.ts';
import type { EpochSettings } from '../cluster/epoch-record.ts';
import type { Config } from '../config/config.ts';
import { domainsOf } from '../config/signing-domains.ts';
import { appendDemoFunds, appendDemoOrders } from '../demo/demo-books.ts';
import { demoCatalog } from '../demo/demo-catalog.ts';
import { applyCommands } from '../orders/intake/internal-commands.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';

const SELF_TRADE: Readonly<Record<Config['selfTrade'], number>> = {
  allow: SelfTrade.allow,
  'cancel-taker': SelfTrade.cancelTaker,
  'cancel-maker': SelfTrade.cancelMaker,
  'cancel-both': SelfTrade.cancelBoth,
};

export function epochSettings(config: Config): EpochSettings {
  const { ledger, openOrdersPerAccount, walletsPerSigner } = config;
  return {
    selfTrade: SELF_TRADE[config.selfTrade],
    openOrdersPerAccount,
    walletsPerSigner,
    ledger,
    ...limitsOf(config),
  };
}

function limitsOf({ exposurePerWallet, openOrdersPerWallet }: Config): WalletLimits {
  return { openOrdersPerWallet, exposurePerWallet: exposurePerWallet * MICRO };
}

/** Logs a command where settings differ from those of the engine. The first batch alone decides about the ledger. */
export async function applyConfiguration(
  config: Config,
  tables: Tables,
  sequencer: Sequencer,
): Promise<void> {
  const selfTrade = SELF_TRADE[config.selfTrade];
  const { history } = config.capacities;
  const now = engineSettings(tables);
  const limits = limitsOf(config);
  const isSame =
    now.selfTrade === selfTrade &&
    now.history === history &&
    now.openOrdersPerAccount === config.openOrdersPerAccount &&
    now.walletsPerSigner === config.walletsPerSigner &&
    now.openOrdersPerWallet === limits.openOrdersPerWallet &&
    now.exposurePerWallet === limits.exposurePerWallet &&
    now.orderRowsMax === tables.orderRows;
  const isFirst = lastBatch(tables) === 0;
  // The first batch always has the settings: a replay must not depend on an environment.
  if (isSame && !isFirst) return;
  const out = new CommandBuffer(16);
  const { openOrdersPerAccount, walletsPerSigner } = config;
  const ledger = isFirst ? config.ledger : now.ledger;
  encodeConfigure(
    out,
    selfTrade,
    history,
    openOrdersPerAccount,
    tables.orderRows,
    walletsPerSigner,
    ledger,
  );
  encodeWalletLimits(out, now, limits);
  const [reason] = await applyCommands(sequencer, out.i32.slice(0, out.words));
  if (reason !== RejectReason.accepted)
    throw new Error(`the configuration was refused by rule ${reason}`);
}

/**
 * Loads the catalog. On the first start of a new directory it is the demo, unless CATALOG_SYNC_URL is set.
 */
export async function loadStartupCatalog(
  config: Config,
  tables: Tables,
  options: CatalogServiceOptions,
): Promise<LoadedFirst> {
  const wantsDemo = config.demo && config.catalogSyncUrl === '';
  const mayWrite = options.sequencer !== undefined && options.leads();
  const isDemo = wantsDemo && mayWrite && marketCount(tables) === 0;
  if (!isDemo) return CatalogService.load(options);
  const demo = readDemo();
  if (options.store.current() === undefined) {
    await writeCatalog(options.store, demo);
    options.log('info', `demo catalog: ${demo.markets.length} markets`);
  }
  return CatalogService.load(options, ({ commands, prepared }) => {
    const first = demo.markets[0]!.conditionId;
    const conditions = prepared.markets.keys.conditionId!;
    if (rowsNamed(conditions, keyOf('condition', first)).length === 0) return commands;
    // One batch with the registrations: a kill leaves both or neither.
    const out = new CommandBuffer();
    if (ledgerIsOn(tables)) appendDemoFunds(demo.markets, out);
    const separators = separatorsOf(domainsOf(config))[1];
    appendDemoOrders(demo.markets, 1 as TokenRow, separators, out);
    const batch = Int32Array.from([...commands[0]!, ...out.i32.subarray(0, out.words)]);
    return [batch, ...commands.slice(1)];
  });
}

export function readDemo(): Catalog {
  const read = readCatalog(demoCatalog());
  if (!read.ok) throw new Error(`demo catalog: ${read.error}`);
  return read.catalog;
}
