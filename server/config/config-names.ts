/**
 * Environment variables that look like ones of the node and are not: a misspelt name would otherwise
 * leave a default in force unnoticed.
 *
 * Pure; values are never looked at, because a foreign variable may hold a secret.
 */

/** Names that begin so are meant for this node: general words (DATA_, LOG_, MAX_) are not among them. */
const OWN_PREFIXES = [
  'ADMIN_',
  'CATALOG_SYNC_',
  'CLIENT_PROFILE',
  'CONNECTIONS_',
  'CREDENTIAL_PREFIX',
  'EIP712_',
  'EXCHANGE_ADDRESS',
  'HEARTBEAT_',
  'JOURNAL_',
  'MIRROR_',
  'NEG_RISK_',
  'RATE_LIMITS',
  'RESOLVE_CONDITION',
  'SELF_TRADE',
  'STREAM_',
  'TRADES_',
  'TRUST_PROX',
  'VERIFY_SIGNATURES',
];

/** A short name has many neighbours that mean something else. */
const SHORT = 5;

/**
 * One line for each variable that is set, unknown, and within a slip or two of a known name, the
 * start of one, or under one of the node's own prefixes.
 */
export function unknownNames(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '' || known.includes(name)) continue;
    const near = nearest(name.toUpperCase(), known) ?? cutShort(name.toUpperCase(), known);
    if (near !== undefined) {
      lines.push(`unknown variable ${name}: is ${near} meant?`);
    } else if (OWN_PREFIXES.some((prefix) => name.toUpperCase().startsWith(prefix))) {
      lines.push(`unknown variable ${name}: there is none of this name`);
    }
  }
  return lines;
}

function nearest(name: string, known: readonly string[]): string | undefined {
  let found: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const slips = Math.min(name.length, candidate.length) <= SHORT ? 1 : 2;
    if (Math.abs(name.length - candidate.length) > slips) continue;
    const distance = distanceOf(name, candidate, slips);
    if (distance <= slips && distance < least) [found, least] = [candidate, distance];
  }
  return found;
}

/** The known name of which this one is the first two parts or more: AUTH_SKEW. */
function cutShort(name: string, known: readonly string[]): string | undefined {
  if (!name.includes('_')) return undefined;
  return known.find((candidate) => candidate.startsWith(`${name}_`));
}

/** Letters to insert, drop, replace, or swap with their neighbour, to get from one to the other; or just more than `most`. */
function distanceOf(a: string, b: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    // When two rows are all above, every later one is, too.
    if (Math.min(...row, ...next) > most) return most + 1;
    before = row;
    row = next;
  }
  return row[b.length]!;
}
