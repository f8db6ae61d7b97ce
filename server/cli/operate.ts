/**
 * Operation of the admin listener for a command: sent to the node that runs on DATA_DIR, else run here on the
 * stopped directory, by the same handlers and with the same audit log. Reads of stored data are always made here.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlRecord, KeyRow } from '../../storage/control-records/control-records.ts';
import { foreignHolder, takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { appendControlRecord } from '../../storage/operations/append-control-record.ts';
import { AuditLog } from '../../storage/operations/audit-log.ts';
import { resolverOf } from '../admin/named-inputs.ts';
import {
  OPERATION_LISTS,
  type OperationHandlers,
  type OperationInput,
  type OperationKey,
  type OperationOutput,
} from '../admin/operation-table.ts';
import { Operations } from '../admin/operations.ts';
import { readToken } from '../admin/token-file.ts';
import { openNodeKey } from '../auth/credentials.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import type { WalletNames } from '../auth/wallet-names.ts';
import { handlersOfLists } from '../http/route.ts';
import { ControlState } from '../node/control-state.ts';
import { type Context, type Options, Refused } from './context.ts';
import { answerOf, baseOf } from './node-request.ts';
import { operatorName } from './operator-name.ts';
import { configOf, textOf } from './settings.ts';
import { storedControlRecords } from './stored-control-records.ts';

/** The log of this directory may lack records of the cluster's log. */
const OF_CLUSTER =
  'DATA_DIR is that of a node of a cluster, which does not run: name one that does with --url, the URL of its admin listener';

/** Returns the answer of a 200. Throws an Error with the text of any other. */
export async function operate<K extends OperationKey>(
  context: Context,
  options: Options,
  key: K,
  input: OperationInput<K>,
): Promise<OperationOutput<K>> {
  const isRead = key.startsWith('GET ');
  if (textOf(options, 'url') !== undefined) return remote(context, options, key, input);
  const { dataDir } = context;
  const foreign = foreignHolder(dataDir);
  const lock = takeDirectoryLock(dataDir);
  try {
    if (isStored(key) && isRead && foreign === undefined) return await local(context, key, input);
    if (!lock.ok) return await remote(context, options, key, input);
    if (!isStored(key)) throw new Error(`no node runs on DATA_DIR ${dataDir}: this needs one`);
    if (!lock.isLocked) throw new Error(`DATA_DIR ${dataDir} is not there, or cannot be written`);
    return await local(context, key, input);
  } finally {
    if (lock.ok) lock.release();
  }
}

function isStored(key: OperationKey): boolean {
  return /\/admin\/(?:keys|bans|pause|resume|message|audit|wallets\/name)\b/.test(key);
}

function remote<K extends OperationKey>(
  context: Context,
  options: Options,
  key: K,
  input: OperationInput<K>,
): Promise<OperationOutput<K>> {
  const base = baseOf(context, options, ({ adminHost: host, adminPort: port }) => {
    if (port !== 0) return { host, port };
    const problem = `DATA_DIR ${context.dataDir} is in use by a node, and ADMIN_PORT is 0`;
    throw new Refused(`${problem}: stop the node, or start it with an admin listener`, 'inUse');
  });
  const token = tokenOf(context);
  const [method = '', path = ''] = key.split(' ');
  const url = new URL(path, base);
  const headers = { Authorization: `Bearer ${token}`, 'X-Operator': operatorName() };
  if (method === 'GET') {
    url.search = queryOf(input).toString();
    return answerOf(url, context.signal, { headers });
  }
  return answerOf(url, context.signal, { method, headers, body: JSON.stringify(input) });
}

/** The token of the settings, else of DATA_DIR. */
export function tokenOf({ dataDir, env }: Context): string {
  const set = env.ADMIN_TOKEN || env.RESOLVER_TOKEN;
  return set || readToken(dataDir) || readToken(dataDir, 'resolver') || '';
}

async function local<K extends OperationKey>(
  context: Context,
  key: K,
  input: OperationInput<K>,
): Promise<OperationOutput<K>> {
  const { dataDir, stderr } = context;
  if (!key.startsWith('GET ') && configOf(context).cluster !== undefined)
    throw new Error(OF_CLUSTER);
  if (!existsSync(join(dataDir, 'keys'))) throw new Error(`there are no keys in ${dataDir}`);
  const { handlers, names } = await handlersOf(context, key);
  const audit = new AuditLog(dataDir);
  try {
    const operations = new Operations({
      handlers,
      audit,
      // No operation on a stopped directory is about a market.
      resolve: resolverOf({
        wallet: (name) => names.find(name),
        market: () => 'none',
        event: () => 'none',
      }),
      log: (line) => stderr.line(line),
    });
    const query = queryOf(input).toString();
    const body = Buffer.from(JSON.stringify(input));
    const actor = `${operatorName()}, command line`;
    const answer = await operations.run({ key, query, body, actor, role: 'operator' });
    const json = JSON.parse(answer.body) as { readonly error?: string; readonly detail?: string };
    if (answer.status === 200) return json as OperationOutput<K>;
    throw new Error([json.error, json.detail].filter((text) => text !== undefined).join(': '));
  } finally {
    await audit.close();
  }
}

function queryOf(input: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) query.set(name, String(value));
  return query;
}

/** Handlers over the control records of the directory. A change appends one more control record. */
async function handlersOf(
  context: Context,
  key: OperationKey,
): Promise<{ readonly handlers: Partial<OperationHandlers>; readonly names: WalletNames }> {
  const records = await storedControlRecords(context.dataDir);
  const keys = records.flatMap((record) => (record.about === 'key' ? [record.row] : []));
  const write = async (record: ControlRecord): Promise<void> => {
    const { capacities, durability, logSegmentBytes: segmentBytes } = configOf(context);
    const log = (line: string): void => context.stderr.line(line);
    const { dataDir } = context;
    await appendControlRecord({ capacities, dataDir, durability, log, segmentBytes }, record);
    state.apply(record);
  };
  const registry = key.includes('/keys') ? registryOf(context, key, keys, write) : undefined;
  const state = new ControlState({ take: (row) => registry?.take(row) }, write);
  for (const record of records) state.apply(record);
  const { bans, names } = state;
  const stored = handlersOfLists(OPERATION_LISTS, {
    bans: { bans, names, orders: undefined, now: Date.now },
    names,
    pause: { venue: state, now: Date.now },
    message: { venue: state, now: Date.now },
    audit: context.dataDir,
  });
  const rows = async () => sorted(keys);
  const handlers =
    registry === undefined
      ? stored
      : { ...stored, ...handlersOfLists(OPERATION_LISTS, { keys: { registry, rows, bans } }) };
  return { handlers, names };
}

/** Last row of each key, by id. */
function sorted(rows: readonly KeyRow[]): KeyRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function registryOf(
  context: Context,
  key: OperationKey,
  rows: readonly KeyRow[],
  write: (record: ControlRecord) => Promise<void>,
): KeyRegistry {
  const { dataDir } = context;
  // A new key file would be useless: every issued key was computed from the missing one.
  const isNew = key === 'POST /admin/keys' && rows.length === 0;
  if (!isNew && !existsSync(join(dataDir, 'node.key'))) {
    throw new Error(`there are keys in ${dataDir}, but not the node.key that they come from`);
  }
  const nodeKey = openNodeKey(dataDir);
  if (!nodeKey.ok) throw new Error(nodeKey.problem);
  const { chainId } = configOf(context);
  const known = new KeyRegistry(nodeKey.key, chainId, write);
  for (const row of rows.slice(0, 1)) known.take(row);
  const kept = known.findChainId() ?? chainId;
  if (kept !== chainId && context.env.CHAIN_ID) {
    throw new Refused(`CHAIN_ID=${chainId}: the keys of ${dataDir} were issued under ${kept}`);
  }
  return new KeyRegistry(nodeKey.key, kept, write);
}
