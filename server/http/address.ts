/**
 * Caller addresses as text: one spelling each, the caller behind proxies, and membership in an allow-list.
 *
 * Pure functions, on the I/O thread. Not here: sockets and headers (http.ts), the PROXY protocol.
 */
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';

/** Prefix of IPv4 addresses mapped into IPv6 (::ffff:0:0/96), as `SocketAddress` spells them. */
const MAPPED_PREFIX = '::ffff:';

const MAPPED_PREFIX_BITS = 96;

/**
 * Normal form of an IP address: dotted IPv4, or shortest lower-case IPv6 without zone. A mapped address
 * (`::ffff:192.0.2.1`) becomes IPv4. Anything else gives ''.
 */
export function normaliseAddress(text: string): string {
  if (isIPv4(text)) return text;
  if (isIP(text) === 0) return '';
  const zone = text.indexOf('%');
  const address = zone < 0 ? text : text.slice(0, zone);
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  const inner = canonical.slice(MAPPED_PREFIX.length);
  return canonical.startsWith(MAPPED_PREFIX) && isIPv4(inner) ? inner : canonical;
}

/**
 * Returns the caller behind `trustedHops` proxies, normalised, or '' when it cannot be known.
 *
 * Each proxy appends the address that it was called from. The last N entries come from the N trusted proxies,
 * and the N-th from the right is the caller. Entries left of it are not verified.
 *
 * Without the header the request was not forwarded, so the peer is the caller. A header that is too short or
 * malformed there gives ''. The peer would be wrong: a stranger would get the rights of the nearest proxy.
 *
 * @param peer address of the other end of the connection
 * @param forwardedFor all X-Forwarded-For lines joined by commas, '' when there is none
 */
export function clientAddress(peer: string, forwardedFor: string, trustedHops: number): string {
  if (trustedHops === 0 || forwardedFor === '') return normaliseAddress(peer);
  const entry = forwardedFor.split(',').at(-trustedHops);
  return entry === undefined ? '' : normaliseAddress(withoutPort(entry.trim()));
}

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const match = /^\[([^\]]*)\](?::\d+)?$/.exec(entry) ?? /^([\d.]+):\d+$/.exec(entry);
  return match?.[1] ?? entry;
}

/** Returns true where only this machine can connect to `host`. Of names, only localhost is recognised. */
export function isLoopback(host: string): boolean {
  const address = normaliseAddress(host);
  if (address === '') return host.toLowerCase() === 'localhost';
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

export function hostToReach(host: string): string {
  if (host === '::') return '::1';
  return host === '0.0.0.0' ? '127.0.0.1' : host;
}

export interface Allowlist {
  /** The entries as written; an empty list allows every caller. */
  readonly entries: readonly string[];
  /** @param address normalised; '' (unknown) is allowed only by an empty list */
  allows(address: string): boolean;
}

/**
 * Reads a comma-separated list of IPv4 and IPv6 addresses and CIDR ranges. An IPv6 range does not cover IPv4
 * callers, unless it has the mapped form (`::ffff:0:0/96`). `detail` names the first invalid entry.
 */
export function parseAllowlist(
  text: string,
): { ok: true; value: Allowlist } | { ok: false; detail: string } {
  const entries = text.trim() === '' ? [] : text.split(',').map((entry) => entry.trim());
  // Two lists, because in a single BlockList ::/0 would cover every IPv4 address.
  const ranges = { 4: new BlockList(), 6: new BlockList() };
  for (const entry of entries) {
    const range = parseRange(entry);
    if (range === undefined) {
      return { ok: false, detail: `${JSON.stringify(entry)} is no IP address or CIDR range` };
    }
    ranges[range.version].addSubnet(range.address, range.bits, `ipv${range.version}`);
  }
  const allows = (address: string): boolean => {
    if (entries.length === 0) return true;
    const version = isIP(address);
    return (version === 4 || version === 6) && ranges[version].check(address, `ipv${version}`);
  };
  return { ok: true, value: { entries, allows } };
}

interface Range {
  readonly version: 4 | 6;
  readonly address: string;
  readonly bits: number;
}

function parseRange(entry: string): Range | undefined {
  const [base = '', suffix, ...rest] = entry.split('/');
  const address = normaliseAddress(base);
  if (address === '' || base.includes('%') || rest.length > 0) return undefined;
  if (suffix !== undefined && !/^(0|[1-9]\d{0,2})$/.test(suffix)) return undefined;
  const version = isIPv4(address) ? 4 : 6;
  const bitsMax = version === 4 ? 32 : 128;
  if (suffix === undefined) return { version, address, bits: bitsMax };
  const mapped = version === 4 && base.includes(':');
  const bits = Number(suffix) - (mapped ? MAPPED_PREFIX_BITS : 0);
  return 0 <= bits && bits <= bitsMax ? { version, address, bits } : undefined;
}
