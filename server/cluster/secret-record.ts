/**
 * The record by which nodes see whether they have the secret of their cluster: keyed digests of CLUSTER_SECRET and of the
 * secret before it. The secret itself is never in it. Pure.
 */
import { createHmac } from 'node:crypto';
import { jsonObject } from './json-value.ts';
import type { PeerSecrets } from './peers/secure.ts';

export const WRONG_SECRET =
  'CLUSTER_SECRET is neither that of the cluster nor the one before it: this node does not lead, and the others do not answer it';

const LABEL = 'CLUSTER_SECRET of a prediction market cluster, version 1';
const DIGEST = /^[0-9a-f]{64}$/;

export interface SecretRecord {
  readonly current: string;
  /** Absent where no change of the secret is under way. */
  readonly previous?: string | undefined;
}

function digestOfSecret(secret: string): string {
  return createHmac('sha256', secret).update(LABEL).digest('hex');
}

export function decodeSecretRecord(value: Buffer): SecretRecord | undefined {
  const { current, previous } = { ...jsonObject(value) };
  if (!isDigest(current) || !(previous === undefined || isDigest(previous))) return undefined;
  return { current, previous };
}

function isDigest(found: unknown): found is string {
  return typeof found === 'string' && DIGEST.test(found);
}

export function encodeSecretRecord(record: SecretRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

export function hasSecretOf(record: SecretRecord, own: PeerSecrets): boolean {
  const { current, previous } = digestsOf(own);
  const known = [record.current, record.previous];
  return known.includes(current) || (previous !== undefined && known.includes(previous));
}

/**
 * The record that a node puts there while it leads; undefined where it stays.
 * @param record undefined: there is none yet
 */
export function nextSecretRecord(
  record: SecretRecord | undefined,
  own: PeerSecrets,
): SecretRecord | undefined {
  const next = digestsOf(own);
  if (record === undefined) return next;
  if (!hasSecretOf(record, own)) return undefined;
  // A node that has not been given the new secret yet leaves it in place.
  const isBehind = record.previous === next.current && next.previous !== record.current;
  const isSame = record.current === next.current && record.previous === next.previous;
  return isBehind || isSame ? undefined : next;
}

function digestsOf({ current, previous }: PeerSecrets): SecretRecord {
  return {
    current: digestOfSecret(current),
    previous: previous === '' ? undefined : digestOfSecret(previous),
  };
}
