/**
 * Mutual proof of CLUSTER_SECRET between two nodes: TLS with a cipher that needs the secret on both sides, and no
 * certificate. A process without the secret reads nothing, changes nothing, and gets no answer. Each connection has keys
 * of its own, so a recorded one stays unreadable for whoever learns the secret later.
 *
 * While the secret changes, nodes have two of them. Each side names its secrets by 32 bits of a keyed digest,
 * and a connection uses the newest secret that both have.
 */
import { createHash, createHmac } from 'node:crypto';
import type { CommonConnectionOptions, SecureContextOptions } from 'node:tls';

const CIPHER = 'ECDHE-PSK-CHACHA20-POLY1305';
const VERSION = 'TLSv1.2';
const PURPOSE = 'peers of a prediction market cluster, version 1';
const NAME_PURPOSE = 'name of a key of peers, version 1';
const NAME_BYTES = 4;
/** Between the node and the name of its key, in the identity of a client. */
const SEPARATOR = '/';

export const SECURE: SecureContextOptions & CommonConnectionOptions = {
  ciphers: CIPHER,
  minVersion: VERSION,
  maxVersion: VERSION,
};

export interface PeerSecrets {
  readonly current: string;
  /** CLUSTER_SECRET_PREVIOUS; '' where no change of the secret is under way. */
  readonly previous: string;
}

interface PeerKey {
  /** Tells keys apart, and does not show them. */
  readonly name: string;
  readonly psk: Buffer;
}

export class PeerKeys {
  /** Names of all keys, for the clients of a server. */
  readonly hint: string;
  /** The newest first. */
  private readonly keys: readonly PeerKey[];

  constructor({ current, previous }: PeerSecrets) {
    this.keys = [current, previous].filter((secret) => secret !== '').map(keyOf);
    this.hint = this.keys.map(({ name }) => name).join(' ');
  }

  /** The key that a client has named. A node of an older version names none, and has the oldest secret. */
  ofIdentity(identity: string): Buffer {
    const name = identity.split(SEPARATOR)[1];
    return (this.keys.find((key) => key.name === name) ?? this.oldest()).psk;
  }

  /** Returns the key and the identity of a client. @param hint of the server; null: it is of an older version */
  forServer(
    hint: string | null,
    node: string,
  ): { readonly psk: Buffer; readonly identity: string } {
    const known = new Set(hint?.split(' '));
    const { name, psk } = this.keys.find((key) => known.has(key.name)) ?? this.oldest();
    return { psk, identity: `${node}${SEPARATOR}${name}` };
  }

  private oldest(): PeerKey {
    return this.keys.at(-1)!;
  }
}

function keyOf(secret: string): PeerKey {
  const psk = createHash('sha256').update(PURPOSE).update('\0').update(secret).digest();
  const digest = createHmac('sha256', psk).update(NAME_PURPOSE).digest();
  return { name: digest.toString('hex', 0, NAME_BYTES), psk };
}
