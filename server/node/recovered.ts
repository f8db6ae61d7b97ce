/**
 * State of a node after recovery: the tables, and the control state up to the end of the log.
 *
 * Thread: I/O, before the port opens. Not here: snapshot and log (storage/recovery).
 */
import {
  engineTime,
  fillCount,
  lastBatch,
  openOrders,
  orderKeyAt,
  orderRowCount,
} from '../../engine/reads.ts';
import { API_KEY_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { OrderRow } from '../../engine/tables/units.ts';
import type { ControlRecord } from '../../storage/control-records/control-records.ts';
import { readControlRecords } from '../../storage/control-records/read-control-records.ts';
import { loadFills } from '../../storage/recovery/recover.ts';
import type { ClockFacts } from '../admin/summary.ts';
import { openNodeKey } from '../auth/credentials.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import { aheadOf, aheadText } from '../common/guarded-clock.ts';
import { ControlRecordSender, ControlState } from './control-state.ts';
import type { Ports } from './ports.ts';
import type { RecoveredTables, Recovery } from './recovery.ts';
import { factsOf, holderOf, settleSettings } from './retained-settings.ts';
import { DERIVE_MS_MAX, type Start } from './start.ts';

interface RetainedRecords {
  readonly control: ControlState;
  readonly registry: KeyRegistry;
  readonly sender: ControlRecordSender;
  /** Returns false for the record of a key that was issued under a lost node.key. */
  readonly isUsable: (record: ControlRecord) => boolean;
}

export interface Recovered extends RetainedRecords {
  /** No thread writes them before `sound` resolves. */
  readonly tables: Tables;
  readonly sound: Promise<void>;
  /** Fill sequence of the oldest fill in the ring. */
  readonly firstFill: number;
  readonly replayed: RecoveredTables['recent'];
  readonly clockFacts: () => ClockFacts;
}

export async function recover(start: Start, ports: Ports, recovery: Recovery): Promise<Recovered> {
  const { log } = start.options;
  const { clock, stores } = ports;
  const warn = (line: string): void => log('warn', line);
  const reading = recovery.tables(stores.log);
  const recovered = await start.waitOrStop('snapshot and log to be read', reading, DERIVE_MS_MAX);
  const { replayed, snapshot, t: tables } = recovered;
  stores.snapshots.skip(recovered.skippedSnapshots);
  const firstFill = loadFills(tables, stores.derived.fills, recovered.firstFill, warn);
  const [batch, orders, fills] = [lastBatch(tables), openOrders(tables), fillCount(tables)];
  log(
    'info',
    `recovered snapshot of batch ${snapshot}, ${replayed} batches after it: batch ${batch}, ` +
      `${orders} open orders, ${fills} fills`,
    { image: snapshot, replayed, batch, open_orders: orders, fills },
  );
  const clockFacts = (): ClockFacts => ({
    jumpMs: clock.jumpMs(),
    aheadMs: aheadOf(engineTime(tables), clock.now()),
  });
  const { aheadMs } = clockFacts();
  if (aheadMs > 0) warn(aheadText(aheadMs));
  const records = readRecords(start, ports, tables);
  const lost = records.registry.isNew ? lostKeys(tables) : undefined;
  if (lost !== undefined) warn(lost);
  const { sound } = recovery;
  return { ...records, tables, sound, firstFill, replayed: recovered.recent, clockFacts };
}

/**
 * Reads the control records. Afterwards the settings of the start include the retained ones of the directory.
 */
function readRecords(start: Start, { play, stores }: Ports, tables: Tables): RetainedRecords {
  const { config, log, set = new Set() } = start.options;
  const nodeKey = openNodeKey(config.dataDir);
  if (!nodeKey.ok) throw new Error(nodeKey.problem);
  const sender = new ControlRecordSender();
  // Without node.key and keys/, keys of the log do not return: they follow from the lost node.key.
  const areKeysGone = nodeKey.isNew && stores.controlRecords.isNew();
  const isUsable = (record: ControlRecord): boolean => !areKeysGone || record.about !== 'key';
  const read = (chainId: number) => {
    const registry = new KeyRegistry(nodeKey.key, chainId, sender.write);
    const control = new ControlState(registry, sender.write, sender.pause);
    readControlRecords(
      stores.controlRecords,
      stores.log,
      (record) => control.apply(record),
      isUsable,
    );
    return { control, registry };
  };
  let state = read(config.chainId);
  const facts = factsOf(tables, holderOf(config), state.registry.findChainId());
  const settled = settleSettings({ config, set }, facts, play?.clock.now());
  start.settle({ ...settled, capacities: tables.capacities });
  if (settled.chainId !== config.chainId) state = read(settled.chainId);
  if (!state.registry.matchesStore) {
    log('warn', 'the stored API keys were issued under another node.key or CHAIN_ID: none works');
  }
  return { ...state, sender, isUsable };
}

/**
 * Returns the warning of a store without keys that has orders placed under keys; `undefined` = there never
 * was a key.
 */
function lostKeys(tables: Tables): string | undefined {
  const orders = placedUnderKeys(tables);
  if (orders === 0) return undefined;
  return (
    `no API key is known, but ${orders} orders in memory were placed under one: keys/ was removed. ` +
    'Everybody has to ask for their keys again, and gets the same ones, revoked ones too; read-only keys, ' +
    'bans, and who is watched for its silence are gone, as far as the log does not have them'
  );
}

function hasKey({ orderI }: Tables, row: OrderRow): boolean {
  const at = orderKeyAt(row);
  for (let word = 0; word < API_KEY_WORDS; word++) if (orderI[at + word] !== 0) return true;
  return false;
}

function placedUnderKeys(tables: Tables): number {
  let orders = 0;
  for (let row = 1; row <= orderRowCount(tables); row++) {
    if (hasKey(tables, row as OrderRow)) orders += 1;
  }
  return orders;
}
