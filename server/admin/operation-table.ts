/**
 * Operations of the admin listener: the lists of all files here, in the order of the README. A GET reads; a
 * POST changes something and, unless its row says otherwise, gets an entry in the audit log. Validation,
 * document and README are made from it.
 */
import type { Static } from '../common/schema.ts';
import type { HandlersOf } from '../http/route.ts';
import type { Role } from './access.ts';
import { AUDIT_OPERATIONS } from './audit-operations.ts';
import { CATALOG_OPERATIONS } from './catalog-operations.ts';
import { CLUSTER_OPERATIONS } from './cluster-operations.ts';
import { DEPOSIT_OPERATIONS } from './deposit-operations.ts';
import { FAULT_OPERATIONS } from './fault-operations.ts';
import { INVITE_OPERATIONS } from './invite-operations.ts';
import { KEY_OPERATIONS } from './key-operations.ts';
import { LEDGER_OPERATIONS } from './ledger-operations.ts';
import { LIQUIDITY_OPERATIONS } from './liquidity-operations.ts';
import { MARKET_OPERATIONS } from './market-operations.ts';
import type { OperationRow } from './operation-row.ts';
import { PLAY_OPERATIONS } from './play-operations.ts';
import { REBATE_OPERATIONS } from './rebate-operations.ts';
import { RESOLUTION_OPERATIONS } from './resolution-operations.ts';
import { ROLE_OPERATIONS } from './role-operations.ts';
import { SEASON_OPERATIONS } from './season-operations.ts';
import { STATEMENT_OPERATIONS } from './statement-operations.ts';
import { LIMIT_OPERATIONS, MESSAGE_OPERATIONS, PAUSE_OPERATIONS } from './venue-operations.ts';
import { NAME_OPERATIONS, WALLET_OPERATIONS } from './wallet-list.ts';
import { BAN_OPERATIONS, ORDER_OPERATIONS } from './wallet-operations.ts';

export const OPERATION_LISTS = {
  roles: ROLE_OPERATIONS,
  keys: KEY_OPERATIONS,
  orders: ORDER_OPERATIONS,
  wallets: WALLET_OPERATIONS,
  names: NAME_OPERATIONS,
  bans: BAN_OPERATIONS,
  pause: PAUSE_OPERATIONS,
  message: MESSAGE_OPERATIONS,
  limits: LIMIT_OPERATIONS,
  faults: FAULT_OPERATIONS,
  ledger: LEDGER_OPERATIONS,
  deposits: DEPOSIT_OPERATIONS,
  rebates: REBATE_OPERATIONS,
  invites: INVITE_OPERATIONS,
  seasons: SEASON_OPERATIONS,
  statements: STATEMENT_OPERATIONS,
  catalog: CATALOG_OPERATIONS,
  markets: MARKET_OPERATIONS,
  liquidity: LIQUIDITY_OPERATIONS,
  resolutions: RESOLUTION_OPERATIONS,
  cluster: CLUSTER_OPERATIONS,
  audit: AUDIT_OPERATIONS,
  play: PLAY_OPERATIONS,
};

type Operation = (typeof OPERATION_LISTS)[keyof typeof OPERATION_LISTS][number];

export const OPERATIONS = Object.fromEntries(
  Object.values(OPERATION_LISTS).flatMap((list) => list.map(({ key, row }) => [key, row])),
) as { readonly [Each in Operation as Each['key']]: Each['row'] };

export type OperationKey = keyof typeof OPERATIONS;

export type OperationHandlers = HandlersOf<Operation[]>;

export type OperationInput<Key extends OperationKey> = Static<(typeof OPERATIONS)[Key]['input']>;
export type OperationOutput<Key extends OperationKey> = Static<(typeof OPERATIONS)[Key]['answer']>;

export function operationRow(key: OperationKey): OperationRow {
  return OPERATIONS[key];
}

export function operationRows(): (readonly [OperationKey, OperationRow])[] {
  return Object.entries(OPERATIONS) as (readonly [OperationKey, OperationRow])[];
}

export function operationsOf(role: Role): OperationKey[] {
  return operationRows().flatMap(([key, row]) => (mayRun(role, row) ? [key] : []));
}

export function mayRun(role: Role, { resolver }: OperationRow): boolean {
  return role === 'operator' || resolver === true;
}

/** Returns true for an operation that has an entry in the audit log and that the leader makes. */
export function isChange(key: OperationKey): boolean {
  const { ofPlay, reads } = operationRow(key);
  return key.startsWith('POST ') && ofPlay !== true && reads !== true;
}
