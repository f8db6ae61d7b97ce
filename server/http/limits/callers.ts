/**
 * Callers as the rate limits count them: an IPv4 address, or the /64 prefix of an IPv6 one, because a single
 * subscriber is given at least that many addresses.
 *
 * Pure except ConnectedPeers, which the HTTP server informs of connections. Thread: I/O.
 */
import { isIPv4 } from 'node:net';
import { normaliseAddress } from '../address.ts';

/** 64 bits, both halves as signed 32-bit integers. */
export interface Caller {
  readonly high: number;
  readonly low: number;
}

/** High half for callers without an IPv6 address: multicast prefixes are no source addresses. */
const IPV4_HIGH = -1; // ffff:ffff
const UNKNOWN: Caller = { high: -1 << 1, low: 0 }; // ffff:fffe

/** Third word of an IPv4 address mapped into IPv6: ::ffff:0:0/96. */
const MAPPED = 0xffff;

const GROUPS = 8;

/** @param address normalised by normaliseAddress; '' = unknown, and all unknown callers are one */
export function callerOf(address: string): Caller {
  if (address === '') return UNKNOWN;
  if (isIPv4(address)) {
    let low = 0;
    for (const byte of address.split('.')) low = (low << 8) | Number(byte);
    return { high: IPV4_HIGH, low };
  }
  const [a, b, c, d] = groupsOf(address);
  return { high: (a! << 16) | b!, low: (c! << 16) | d! };
}

/** @param bytes 4 of IPv4 or 16 of IPv6, as the HTTP library gives them; any other number = unknown */
export function callerOfBytes(bytes: Uint8Array): Caller {
  if (bytes.length === 4) return { high: IPV4_HIGH, low: wordAt(bytes, 0) };
  if (bytes.length !== 16) return UNKNOWN;
  const [high, low, third] = [wordAt(bytes, 0), wordAt(bytes, 4), wordAt(bytes, 8)];
  const isMapped = high === 0 && low === 0 && third === MAPPED;
  return isMapped ? { high: IPV4_HIGH, low: wordAt(bytes, 12) } : { high, low };
}

/** @param key the 16 bytes of a UUID, most of which are random */
export function callerOfKey(key: Uint8Array): Caller {
  return { high: wordAt(key, 0), low: wordAt(key, 4) };
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

/** The 16-bit groups of an IPv6 address; a dotted end stays one text. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const dotted = back.at(-1)?.includes('.') === true ? 1 : 0;
  const zeros = tail === undefined ? 0 : GROUPS - front.length - back.length - dotted;
  const texts = [...front, ...new Array<string>(zeros).fill('0'), ...back];
  return texts.map((text) => Number.parseInt(text, 16));
}

export interface Peer {
  /** Normalised by normaliseAddress. */
  readonly address: string;
  readonly caller: Caller;
}

export function peerOf(text: string): Peer {
  const address = normaliseAddress(text);
  return { address, caller: callerOf(address) };
}

/**
 * Saves the look-up of an address, a tenth of the cost of a small answer, while all connections have one
 * peer: behind a proxy, or with a single client.
 *
 * The library tells the address of an opened connection but not of a closed one. Once two addresses differ,
 * all are looked up until no connection is left.
 */
export class ConnectedPeers {
  /** Peer of every open connection; undefined when they differ or none is open. */
  sole: Peer | undefined = undefined;
  private connections = 0;

  opened(peer: Peer): void {
    this.connections += 1;
    if (this.connections === 1) this.sole = peer;
    else if (this.sole?.address !== peer.address) this.sole = undefined;
  }

  closed(): void {
    this.connections -= 1;
    if (this.connections === 0) this.sole = undefined;
  }
}

export function callerKey({ high, low }: Caller): string {
  return `${high} ${low}`;
}
