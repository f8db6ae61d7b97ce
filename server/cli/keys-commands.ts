/**
 * `keys`: lists API keys while a node runs; revokes and issues them only while none runs, because a
 * node has all keys in memory.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyRow, type KeyStore, openKeyStore } from '../../storage/kv/keys.ts';
import { OwnStore } from '../../storage/kv/own-store.ts';
import { isUint256 } from '../common/uint256.ts';
import { checksumAddress } from '../identity/checksum.ts';
import { openNodeKey } from '../identity/credentials.ts';
import { KEYS_MAX, KeyRegistry } from '../identity/key-registry.ts';
import { type Context, type Exit, Refused, type Run } from './context.ts';
import { addressOf, configOf, textOf } from './settings.ts';
import { aligned } from './terminal.ts';

export const list: Run = (context, _, options) =>
  withKeys(context, true, async (store) => {
    const { paint, stdout } = context;
    const text = textOf(options, 'wallet');
    const wallet = text && checksumAddress(addressOf(text, '--wallet'));
    const rows = [...store.rows()]
      .map(shown)
      .filter((row) => wallet === undefined || row.wallet === wallet)
      .sort((a, b) => (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0));
    if (options.json === true) {
      for (const row of rows) stdout.write(`${JSON.stringify(row)}\n`);
      return 'done';
    }
    const [head, ...lines] = aligned([
      ['key', 'wallet', 'kind', 'nonce', 'state'],
      ...rows.map(({ key, kind, nonce, state, wallet: of }) => [key, of, kind, nonce, state]),
    ]);
    stdout.write(`${paint.bold(head!)}\n`);
    for (const [i, line] of lines.entries()) {
      stdout.write(`${rows[i]!.state === 'revoked' ? paint.dim(line) : line}\n`);
    }
    return 'done';
  });

function shown({ address, id, nonce, readOnly, revoked }: KeyRow) {
  return {
    key: id,
    wallet: checksumAddress(address),
    kind: readOnly ? 'read-only' : 'api',
    nonce,
    state: revoked ? 'revoked' : 'active',
  };
}

export const revoke: Run = (context, [key = '']) =>
  withKeys(context, false, async (store) => {
    const id = key.toLowerCase();
    const row = [...store.rows()].find((each) => each.id === id);
    if (row === undefined) throw new Error(`there is no key ${key}: see keys list`);
    if (row.revoked) context.stdout.write(`${id} was revoked already\n`);
    else {
      await store.put({ ...row, revoked: true });
      context.stdout.write(`${id} of ${checksumAddress(row.address)} is revoked\n`);
    }
    return 'done';
  });

export const issue: Run = (context, [wallet = ''], options) => {
  const address = addressOf(wallet, 'WALLET');
  const nonce = textOf(options, 'nonce') ?? '0';
  if (!isUint256(nonce)) throw new Refused(`--nonce must be a whole number, not "${nonce}"`);
  const { chainId } = configOf(context);
  return withKeys(context, false, async (store) => {
    // A new key file would be useless: every issued key was computed from the missing one.
    const isThere = existsSync(join(context.dataDir, 'node.key'));
    if (!isThere && [...store.rows()].length > 0) {
      throw new Error(
        `there are keys in ${context.dataDir}, but not the node.key that they come from`,
      );
    }
    const nodeKey = openNodeKey(context.dataDir);
    if (!nodeKey.ok) throw new Error(nodeKey.problem);
    const registry = new KeyRegistry(nodeKey.key, chainId, store);
    if (!registry.matchesStore) {
      throw new Error(
        'the keys that are there come from another node.key or CHAIN_ID: none is issued',
      );
    }
    if (!registry.mayHave(address, nonce)) {
      throw new Error(
        `${checksumAddress(address)} has ${KEYS_MAX} keys, which is as many as it may have`,
      );
    }
    const trio = await registry.create(address, nonce);
    context.stdout.write(
      `${JSON.stringify({ wallet: checksumAddress(address), nonce, ...trio })}\n`,
    );
    return 'done';
  });
};

async function withKeys(
  { dataDir, durability }: Context,
  readOnly: boolean,
  body: (store: KeyStore) => Promise<Exit>,
): Promise<Exit> {
  if (!existsSync(join(dataDir, 'keys'))) throw new Error(`there are no keys in ${dataDir}`);
  const own = new OwnStore(dataDir, { durability, readOnly });
  try {
    return await body(openKeyStore(own.keys, () => undefined));
  } finally {
    await own.close();
  }
}
