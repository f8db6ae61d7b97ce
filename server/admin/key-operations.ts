/**
 * Operations on keys: of a node that runs, and on a stopped directory.
 *
 * Thread: that of the registry.
 */
import type { KeyRow } from '../../storage/notes/notes.ts';
import { nextTurn } from '../common/next-turn.ts';
import { bytesToHex, hexToBytes } from '../common/uint256.ts';
import type { Bans } from '../identity/bans.ts';
import { checksumAddress } from '../identity/checksum.ts';
import { KEYS_MAX, type KeyRegistry } from '../identity/key-registry.ts';
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers } from './operation-table.ts';

type KeyOperation = 'GET /admin/keys' | 'POST /admin/keys' | 'POST /admin/keys/revoke';

const ADDRESS_BYTES = 20;
/** Rows that are read without a pause: a few milliseconds. */
const ROWS_PER_TURN = 1_000;

/** By id, as many of them as are durable when it is called. */
type KeyRows = () => Promise<Iterable<KeyRow>>;

export function keyOperations(
  registry: KeyRegistry,
  rows: KeyRows,
  bans: Pick<Bans, 'has'>,
): OperationHandlers<KeyOperation> {
  return {
    async 'GET /admin/keys'({ after, limit = 1_000, wallet }) {
      const keys: ReturnType<typeof shown>[] = [];
      let more = false;
      await walk(await rows(), (row) => {
        const isOf = wallet === undefined || toAddressText(row) === wallet.toLowerCase();
        if (!isOf || (after !== undefined && row.id <= after.toLowerCase())) return false;
        more = keys.length === limit;
        if (!more) keys.push(shown(row, bans));
        return more;
      });
      return { keys, more };
    },
    async 'POST /admin/keys'({ nonce = '0', wallet }) {
      const address = addressOf(wallet);
      if (!registry.matchesStore) {
        return new OperationRefused(409, 'the keys come from another node.key or CHAIN_ID');
      }
      if (!registry.mayHave(address, nonce)) {
        return new OperationRefused(409, 'too many API keys', `a wallet may have ${KEYS_MAX}`);
      }
      const trio = await registry.create(address, nonce);
      return { wallet: checksumAddress(address), nonce, ...trio };
    },
    async 'POST /admin/keys/revoke'({ key }) {
      let found: KeyRow | undefined;
      await walk(await rows(), (row) => {
        found = row.id === key.toLowerCase() ? row : undefined;
        return found !== undefined;
      });
      if (found === undefined) return new OperationRefused(404, 'key not found');
      const changed = await registry.revokeRow(found);
      return { key: found.id, wallet: checksumAddress(found.address), changed };
    },
  };
}

export function addressOf(wallet: string): Uint8Array {
  const address = new Uint8Array(ADDRESS_BYTES);
  hexToBytes(wallet, ADDRESS_BYTES, address, 0);
  return address;
}

/** Shows every key to `see`, until that returns true. */
async function walk(rows: Iterable<KeyRow>, see: (row: KeyRow) => boolean): Promise<void> {
  let seen = 0;
  for (const row of rows) {
    if (see(row)) return;
    seen += 1;
    if (seen % ROWS_PER_TURN === 0) await nextTurn();
  }
}

function toAddressText({ address }: KeyRow): string {
  return bytesToHex(address, 0, address.length);
}

function shown(row: KeyRow, bans: Pick<Bans, 'has'>) {
  const { address, id, nonce, readOnly, revoked } = row;
  const unrevoked = bans.has(toAddressText(row)) ? ('banned' as const) : ('active' as const);
  return {
    key: id,
    wallet: checksumAddress(address),
    kind: readOnly ? ('read-only' as const) : ('api' as const),
    nonce,
    state: revoked ? ('revoked' as const) : unrevoked,
  };
}
