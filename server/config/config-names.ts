/**
 * Environment variables that look like settings and are none: a misspelt name leaves a default in force.
 *
 * Pure; any thread. Reads no values: a foreign variable may hold a secret.
 */

/** Beginnings of names that are meant for this node. General words (DATA_, LOG_, MAX_) are not among them. */
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

/** Up to this length one slip is allowed: a short name has many neighbours. */
const SHORT = 5;

/** Returns a line for each unknown variable that resembles a known name, begins one, or has a prefix of the node. */
export function unknownNames(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const lines: string[] = [];
  const candidates = known.map((text): Candidate => ({ text, letters: lettersOf(text) }));
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '' || known.includes(name)) continue;
    const near = nearest(name.toUpperCase(), candidates) ?? cutShort(name.toUpperCase(), known);
    if (near !== undefined) {
      lines.push(`unknown variable ${name}: is ${near} meant?`);
    } else if (OWN_PREFIXES.some((prefix) => name.toUpperCase().startsWith(prefix))) {
      lines.push(`unknown variable ${name}: there is none of this name`);
    }
  }
  return lines;
}

interface Candidate {
  readonly text: string;
  readonly letters: number;
}

function nearest(name: string, candidates: readonly Candidate[]): string | undefined {
  let found: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  const own = lettersOf(name);
  for (const { letters, text } of candidates) {
    const slips = Math.min(name.length, text.length) <= SHORT ? 1 : 2;
    if (Math.abs(name.length - text.length) > slips) continue;
    // A slip changes at most one letter of each name. Most pairs end here, which a start would feel otherwise.
    if (bitCount(own & ~letters) > slips || bitCount(letters & ~own) > slips) continue;
    const distance = distanceOf(name, text, slips);
    if (distance <= slips && distance < least) [found, least] = [text, distance];
  }
  return found;
}

/** Returns the set of characters of a name, one bit for each that differs from the others modulo 32. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let i = 0; i < name.length; i++) letters |= 1 << (name.charCodeAt(i) & 31);
  return letters;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Returns the known name that begins with this one, of two parts or more: AUTH_SKEW. */
function cutShort(name: string, known: readonly string[]): string | undefined {
  if (!name.includes('_')) return undefined;
  return known.find((candidate) => candidate.startsWith(`${name}_`));
}

/** Counts letters to insert, drop, replace or swap with a neighbour; a result above `most` is not exact. */
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
