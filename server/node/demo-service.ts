/**
 * Traders of the demo as a service of the node: they trade where this node leads, while its catalog is the
 * demo.
 *
 * Thread: I/O. Not here: their orders (server/demo).
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { openNodeKey } from '../auth/credentials.ts';
import { demoFunds } from '../demo/demo-funds.ts';
import type { DemoTraders } from '../demo/demo-traders.ts';
import { hostToReach } from '../http/address.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { NodeParts } from './node-parts.ts';
import type { Start } from './start.ts';
import { readDemo } from './startup-commands.ts';

export async function startDemoTraders(
  start: Start,
  { authority, catalog, tables, unwritable, writer }: NodeParts,
  port: number,
): Promise<void> {
  const { config, log } = start.options;
  const { catalogSyncUrl, dataDir, demo, demoTraders } = config;
  if (!demo || !demoTraders || catalogSyncUrl !== '' || unwritable !== undefined) return;
  const nodeKey = openNodeKey(dataDir);
  if (!nodeKey.ok) return;
  // Loads the client, too, which a node without the demo does not need.
  const { DemoTraders } = await import('../demo/demo-traders.ts');
  const { markets } = readDemo();
  const host = hostToReach(config.host);
  const url = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  const fund = async (wallet: Uint8Array): Promise<void> => {
    if (!ledgerIsOn(tables)) return;
    const rows = markets.map(({ conditionId }) => marketByCondition(tables, conditionId));
    const known = rows.filter((row): row is MarketRow => row !== 0);
    for (const [kind, fields] of demoFunds(wallet, known)) await writer.ledger?.funds(kind, fields);
  };
  const secret = nodeKey.key;
  let traders: DemoTraders | undefined;
  const stop = async (): Promise<void> => {
    const stopped = traders?.stop();
    traders = undefined;
    await stopped;
  };
  start.onClose(stop);
  await authority.whenLeading(() => {
    traders = new DemoTraders({ url, markets, secret, catalog: () => catalog.current, fund, log });
  });
  authority.whenFollowing(() => void stop());
}
