/**
 * Operations on keys: on a running node, and on a stopped directory.
 *
 * Thread: that of the registry.
 */

import type { KeyRow } from '../../storage/control-records/control-records.ts';
import type { Bans } from '../auth/bans.ts';
import { checksumAddress } from '../auth/checksum.ts';
import { KEYS_MAX, type KeyRegistry } from '../auth/key-registry.ts';
import { nextIteration } from '../common/event-loop.ts';
import { bytesToHex, hexToBytes } from '../common/uint256.ts';
import { OperationRefused, operation, refused } from './operation-row.ts';
import {
  IssuedAnswer,
  IssueInput,
  KeysAnswer,
  KeysInput,
  RevokedAnswer,
  RevokeInput,
} from './operation-schemas.ts';

const ADDRESS_BYTES = 20;
/** Rows read without a pause: a few milliseconds. */
const ROWS_PER_TURN = 1_000;

type KeyRows = () => Promise<Iterable<KeyRow>>;

export const KEY_OPERATIONS = [
  operation(
    'GET /admin/keys',
    {
      does: 'API keys and read-only keys that were issued, without their secrets',
      input: KeysInput,
      answer: KeysAnswer,
    },
    ({ rows, bans }: KeyOperationParts) =>
      async ({ after, limit = 1_000, wallet }) => {
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
  ),
  operation(
    'POST /admin/keys',
    {
      does: 'issues the API key of a wallet and nonce without its signature',
      input: IssueInput,
      answer: IssuedAnswer,
    },
    ({ registry }: KeyOperationParts) =>
      async ({ nonce = '0', wallet }) => {
        const address = addressOf(wallet);
        if (!registry.matchesStore) {
          return refused('FOREIGN_KEYS');
        }
        if (!registry.mayHave(address, nonce)) {
          return new OperationRefused(409, 'too many API keys', `a wallet may have ${KEYS_MAX}`);
        }
        const trio = await registry.create(address, nonce);
        return { wallet: checksumAddress(address), nonce, ...trio };
      },
  ),
  operation(
    'POST /admin/keys/revoke',
    {
      does: 'revokes a key',
      input: RevokeInput,
      answer: RevokedAnswer,
    },
    ({ registry, rows }: KeyOperationParts) =>
      async ({ key }) => {
        let found: KeyRow | undefined;
        await walk(await rows(), (row) => {
          found = row.id === key.toLowerCase() ? row : undefined;
          return found !== undefined;
        });
        if (found === undefined) return refused('UNKNOWN_KEY');
        const changed = await registry.revokeRow(found);
        return { key: found.id, wallet: checksumAddress(found.address), changed };
      },
  ),
];

interface KeyOperationParts {
  readonly registry: KeyRegistry;
  readonly rows: KeyRows;
  readonly bans: Pick<Bans, 'has'>;
}

export function addressOf(wallet: string): Uint8Array {
  const address = new Uint8Array(ADDRESS_BYTES);
  hexToBytes(wallet, ADDRESS_BYTES, address, 0);
  return address;
}

export function checksumText(wallet: string): string {
  return checksumAddress(addressOf(wallet));
}

/** Passes every key to `see`, until that returns true. */
async function walk(rows: Iterable<KeyRow>, see: (row: KeyRow) => boolean): Promise<void> {
  let seen = 0;
  for (const row of rows) {
    if (see(row)) return;
    seen += 1;
    if (seen % ROWS_PER_TURN === 0) await nextIteration();
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
