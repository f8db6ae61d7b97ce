/**
 * Sites: names that each stand for the wallets of several market creators
 * (docs/protocol.md#creator-filter).
 *
 * Pure; any thread.
 */
import type { Tally } from './catalog-collect.ts';
import { isObject, walletOf } from './catalog-json.ts';

export interface Site {
  /** A result of `normaliseSite`; never empty and never a wallet. */
  readonly id: string;
  /** Wallets in lower case, ascending, each once. */
  readonly creators: readonly string[];
}

/**
 * Returns a site identifier as it is compared: lower case, without surrounding blanks,
 * `http(s)://`, path and trailing dots. Idempotent; linear in the length, because the text may come
 * from a client (docs/protocol.md#creator-filter).
 */
export function normaliseSite(text: string): string {
  const address = text.trim().replace(/^https?:\/\//i, '');
  const slash = address.indexOf('/');
  const host = (slash < 0 ? address : address.slice(0, slash)).trim();
  let end = host.length;
  while (end > 0 && (host[end - 1] === '.' || host[end - 1]?.trim() === '')) end--;
  return host.slice(0, end).toLowerCase();
}

/**
 * Reads the `sites` of a catalog file, ascending by id: `[{id, creators: [wallet, ...]}]`. A site
 * that is listed twice gets the creators of both entries.
 */
export function readSites(list: readonly unknown[], tally: Tally): readonly Site[] {
  const wallets = new Map<string, Set<string>>();
  for (const [index, item] of list.entries()) {
    const place = `sites[${index}]`;
    const id = isObject(item) && typeof item.id === 'string' ? normaliseSite(item.id) : '';
    if (!isObject(item) || id === '' || walletOf(id) !== undefined) {
      tally.add('sites without a usable id: left out', place, 'id');
      continue;
    }
    const known = wallets.get(id);
    if (known !== undefined) tally.add('sites listed more than once: their creators joined', id);
    const creators = known ?? new Set();
    wallets.set(id, creators);
    for (const creator of creatorsOf(item.creators, id, tally)) creators.add(creator);
  }
  return [...wallets.keys()]
    .sort()
    .map((id) => ({ id, creators: [...(wallets.get(id) ?? [])].sort() }));
}

function creatorsOf(value: unknown, id: string, tally: Tally): readonly string[] {
  if (value == null) return [];
  if (!Array.isArray(value)) {
    tally.add('sites whose creators are no list: kept without', id);
    return [];
  }
  return value.flatMap((item, index) => {
    const wallet = walletOf(item);
    if (wallet !== undefined) return [wallet];
    tally.add(
      'site creators that are no wallet: left out',
      `${id}, creators[${index}]`,
      'creators',
    );
    return [];
  });
}
