/**
 * The heartbeat that the leader of a cluster sends several times in CLUSTER_SILENCE_MS. Pure.
 */
import type { Capacities } from '../../engine/tables/capacities.ts';
import type { HandoverRecord } from '../../storage/control-records/control-records.ts';
import type { Tail } from '../../storage/replicated-log/replicated-log.ts';
import { jsonObject } from './json-value.ts';

export interface Heartbeat {
  readonly node: string;
  readonly epoch: number;
  readonly advertise: string;
  readonly peers: string;
  /** Newest committed record. */
  readonly sequence: number;
  readonly capacities: Capacities;
  /** Number of the heartbeat in its process, from 1. */
  readonly count: number;
  /** This lead follows a handover: calls that were sent to the leader before are still answered. */
  readonly afterLeave: boolean;
  /** The leader gives up the lead: followers need not wait for the heartbeat timeout. */
  readonly leaves: boolean;
  /**
   * In the last heartbeat of a handover: the next leader and its peer address. Other nodes wait as
   * after any other heartbeat.
   */
  readonly next?: string | undefined;
  readonly nextPeers?: string | undefined;
  /**
   * In the same heartbeat: the tail, which the next leader claims without reading it; requester and
   * reasons, for the record of the next epoch.
   */
  readonly tail?: Tail | undefined;
  readonly handover?: Handover | undefined;
}

export interface Handover extends HandoverRecord {
  /** The audit log of the former leader has it; otherwise the next leader writes it into its own. */
  readonly isAudited: boolean;
}

export function encodeHeartbeat(heartbeat: Heartbeat): Buffer {
  return Buffer.from(JSON.stringify(heartbeat));
}

export function decodeHeartbeat(value: Buffer): Heartbeat | undefined {
  const found = jsonObject(value);
  const { advertise, capacities, count, epoch, leaves, node, peers, sequence } = { ...found };
  const isWhole =
    [node, advertise, peers].every((text) => typeof text === 'string') &&
    [count, epoch, sequence].every((number) => Number.isSafeInteger(number)) &&
    typeof leaves === 'boolean' &&
    typeof capacities === 'object' &&
    capacities !== null;
  return isWhole ? (found as unknown as Heartbeat) : undefined;
}

const NAMES: Readonly<Record<keyof Capacities, string>> = {
  markets: 'MARKETS_MAX',
  tokens: 'TOKENS_MAX',
  accounts: 'ACCOUNTS_MAX',
  orders: 'ORDERS_MAX',
  levels: 'LEVELS_MAX',
  trades: 'TRADES_MAX',
  history: 'ORDER_HISTORY',
  positions: 'POSITIONS_MAX',
  operatorIds: 'OPERATOR_IDS_MAX',
};

export function smallerTables(own: Capacities, leader: Capacities): string | undefined {
  const smaller = (Object.keys(NAMES) as (keyof Capacities)[]).filter((it) => own[it] < leader[it]);
  if (smaller.length === 0) return undefined;
  return smaller.map((it) => `${NAMES[it]} is ${own[it]}, there ${leader[it]}`).join('; ');
}
