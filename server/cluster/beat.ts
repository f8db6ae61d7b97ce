/**
 * The heartbeat that the leader of a cluster sends several times in CLUSTER_SILENCE_MS. Pure.
 */
import type { Capacities } from '../../engine/tables/capacities.ts';
import type { Tail } from '../../storage/cluster/replicated-log.ts';
import type { HandoverNote } from '../../storage/notes/notes.ts';

export interface Beat {
  readonly node: string;
  readonly epoch: number;
  /** How the other nodes reach it. */
  readonly advertise: string;
  /** Where it answers the calls of other nodes, as an URL. */
  readonly peers: string;
  /** Its newest committed record. */
  readonly sequence: number;
  /** Sizes of its tables. */
  readonly capacities: Capacities;
  /** From 1: no two of a process are the same, and a later one has more. */
  readonly count: number;
  /** The leader before it had left by itself: what was sent to that one is still answered. */
  readonly afterLeave: boolean;
  /** The leader gives up the lead: the others need not wait for its silence. */
  readonly leaves: boolean;
  /** Where it leaves: the node that shall lead; the others wait as after any other beat. */
  readonly next?: string | undefined;
  /** Where that one answers the calls of other nodes. */
  readonly nextPeers?: string | undefined;
  /** Where it leaves: what it has left behind, and the next one claims without a further look. */
  readonly tail?: Tail | undefined;
  /** Where it leaves: who asked for it, and why; the record of the next epoch has it. */
  readonly handover?: Handover | undefined;
}

/** The end of a lead that a node gives to another one. */
export interface Handover extends HandoverNote {
  /** The audit log of the node that led has it; otherwise the next leader writes it into its own. */
  readonly isAudited: boolean;
}

export function encodeBeat(beat: Beat): Buffer {
  return Buffer.from(JSON.stringify(beat));
}

/** Undefined: it is no heartbeat. */
export function decodeBeat(value: Buffer): Beat | undefined {
  let beat: Partial<Beat> | null;
  try {
    beat = JSON.parse(value.toString()) as Partial<Beat> | null;
  } catch {
    return undefined;
  }
  const { advertise, capacities, count, epoch, leaves, node, peers, sequence } = { ...beat };
  const isWhole =
    [node, advertise, peers].every((text) => typeof text === 'string') &&
    [count, epoch, sequence].every((number) => Number.isSafeInteger(number)) &&
    typeof leaves === 'boolean' &&
    typeof capacities === 'object' &&
    capacities !== null;
  return isWhole ? (beat as Beat) : undefined;
}

/** The settings that the sizes come from. */
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

/** Which tables of this node are smaller than those of the leader; undefined = none. */
export function smallerTables(own: Capacities, leader: Capacities): string | undefined {
  const smaller = (Object.keys(NAMES) as (keyof Capacities)[]).filter((it) => own[it] < leader[it]);
  if (smaller.length === 0) return undefined;
  return smaller.map((it) => `${NAMES[it]} is ${own[it]}, there ${leader[it]}`).join('; ');
}
