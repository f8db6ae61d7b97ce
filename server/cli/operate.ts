/**
 * Runs an operation of the admin listener for a command: by the node that runs on DATA_DIR, else here on the
 * stopped directory, by the same handlers and with the same audit log. What only reads what is stored is read in
 * either case.
 */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { foreignHolder, takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { openKeyStore } from '../../storage/kv/keys.ts';
import { openOperatorStore } from '../../storage/kv/operator-rows.ts';
import { OwnStore } from '../../storage/kv/own-store.ts';
import { AuditLog } from '../../storage/operations/audit-log.ts';
import { auditOperations } from '../admin/audit-operations.ts';
import { keyOperations } from '../admin/key-operations.ts';
import type {
  OperationHandlers,
  OperationInput,
  OperationKey,
  OperationOutput,
} from '../admin/operation-table.ts';
import { Operations } from '../admin/operations.ts';
import { readToken } from '../admin/token-file.ts';
import { pauseOperations } from '../admin/venue-operations.ts';
import { banOperations } from '../admin/wallet-operations.ts';
import { Bans } from '../identity/bans.ts';
import { openNodeKey } from '../identity/credentials.ts';
import { KeyRegistry } from '../identity/key-registry.ts';
import { type Context, type Options, Refused } from './context.ts';
import { answerOf, baseOf } from './node-request.ts';
import { configOf, textOf } from './settings.ts';

/** The answer of a 200; throws an Error with the answer of any other. */
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

/** Whether an operation is about what is stored, so that no node is needed. */
function isStored(key: OperationKey): boolean {
  return /\/admin\/(?:keys|bans|pause|resume|audit)\b/.test(key);
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
  const token = context.env.ADMIN_TOKEN || readToken(context.dataDir) || '';
  const [method = '', path = ''] = key.split(' ');
  const url = new URL(path, base);
  const headers = { Authorization: `Bearer ${token}`, 'X-Operator': userInfo().username };
  if (method === 'GET') {
    url.search = queryOf(input).toString();
    return answerOf(url, context.signal, { headers });
  }
  return answerOf(url, context.signal, { method, headers, body: JSON.stringify(input) });
}

async function local<K extends OperationKey>(
  context: Context,
  key: K,
  input: OperationInput<K>,
): Promise<OperationOutput<K>> {
  const { dataDir, durability, stderr } = context;
  if (!existsSync(join(dataDir, 'keys'))) throw new Error(`there are no keys in ${dataDir}`);
  const own = new OwnStore(dataDir, { durability, readOnly: key.startsWith('GET ') });
  const audit = new AuditLog(dataDir);
  try {
    const operations = new Operations({
      handlers: handlersOf(context, key, own),
      audit,
      log: (line) => stderr.write(`${line}\n`),
    });
    const query = queryOf(input).toString();
    const body = Buffer.from(JSON.stringify(input));
    const actor = `${userInfo().username}, command line`;
    const answer = await operations.run({ key, query, body, actor });
    const json = JSON.parse(answer.body) as { readonly error?: string; readonly detail?: string };
    if (answer.status === 200) return json as OperationOutput<K>;
    throw new Error([json.error, json.detail].filter((text) => text !== undefined).join(': '));
  } finally {
    await audit.close();
    await own.close();
  }
}

function queryOf(input: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) query.set(name, String(value));
  return query;
}

function handlersOf(
  context: Context,
  key: OperationKey,
  own: OwnStore,
): Partial<OperationHandlers> {
  const store = openOperatorStore(own);
  return {
    ...(key.includes('/keys') ? keyOperations(registryOf(context, key, own)) : {}),
    ...banOperations(new Bans(store), undefined, Date.now),
    ...pauseOperations(store, () => undefined, Date.now),
    ...auditOperations(context.dataDir),
  };
}

function registryOf(context: Context, key: OperationKey, own: OwnStore): KeyRegistry {
  const { dataDir } = context;
  const store = openKeyStore(own.keys, () => undefined);
  // A new key file would be useless: every issued key was computed from the missing one.
  const isNew = key === 'POST /admin/keys' && [...store.rows()].length === 0;
  if (!isNew && !existsSync(join(dataDir, 'node.key'))) {
    throw new Error(`there are keys in ${dataDir}, but not the node.key that they come from`);
  }
  const nodeKey = openNodeKey(dataDir);
  if (!nodeKey.ok) throw new Error(nodeKey.problem);
  return new KeyRegistry(nodeKey.key, configOf(context).chainId, store);
}
