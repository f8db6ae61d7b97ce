/**
 * Read-only keys: a request carries only the key and its address, as existing clients send them. So
 * the key is a secret, and it is only accepted for reads of its owner's data.
 *
 * Thread: the I/O thread. Nothing here logs.
 */
import { errorBody } from '../common/error-bodies.ts';
import type { Auth, AuthRefused, KeyOwner } from './auth.ts';
import { isAddressText } from './checksum.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const WRITE_REFUSED: AuthRefused = {
  ok: false,
  status: 403,
  body: errorBody('invalid_l2: read-only key'),
};

/**
 * The owner of the read-only key of a request; undefined when it has none, or also has an API key:
 * then it must be checked with that one.
 * @param headers values of ADDRESS, API_KEY and READONLY_API_KEY, '' or undefined when absent
 * @param mayRead whether a read-only key is enough for the request
 */
export function checkReadOnly(
  auth: Auth,
  headers: {
    readonly address: string | undefined;
    readonly apiKey: string | undefined;
    readonly readOnlyKey: string | undefined;
  },
  mayRead: boolean,
): KeyOwner | AuthRefused | undefined {
  const { address = '', apiKey = '', readOnlyKey = '' } = headers;
  if (readOnlyKey === '' || apiKey !== '') return undefined;
  if (!mayRead) return WRITE_REFUSED;
  const name = auth.level2Names[0]!;
  if (address === '') return refused(`missing header ${name}`);
  if (!isAddressText(address)) return refused(`malformed header ${name}`);
  if (!UUID.test(readOnlyKey)) return refused(`malformed header ${auth.readOnlyName}`);
  const found = auth.registry.lookupReadOnly(readOnlyKey.toLowerCase());
  if (found?.addressText !== address.toLowerCase()) return refused('unknown read-only key');
  return { ok: true, address: found.address, apiKey: found.key, apiKeyBytes: found.keyBytes };
}

function refused(reason: string): AuthRefused {
  return { ok: false, status: 401, body: errorBody(`invalid_l2: ${reason}`) };
}
