/**
 * Sites: names under which the wallets of several market creators stand together
 * (docs/protocol.md#creator-filter).
 *
 * Pure; any thread.
 */
import type { Tally } from './catalog-collect.ts';
import { isObject, walletOf } from './catalog-json.ts';

export interface Site {
  /** As `normaliseSite` leaves it; never empty and never a wallet. */
  readonly id: string;
  /** Wallets in lower case, ascending, each once. */
  readonly creators: readonly string[];
}

/**
 * A site identifier as it is compared: without blanks around it, `http(s)://`, path and trailing
 * dots, in lower case. What it answers stays as it is when normalised again. Linear in
 * the length of the text, which may come from a client.
 * Rules: docs/protocol.md#creator-filter
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
 * Reads the `sites` of a catalog file, ascending by id: `[{id, creators: [wallet, ...]}]`. One that
 * is listed twice has the creators of both: sites carry no date by which one could be the newer.
 */
export function readSites(list: readonly unknown[], tally: Tally): readonly Site[] {
  const wallets = new Map<string, Set<string>>();
  for (const [index, item] of list.entries()) {
    const place = `sites[${index}]`;
    const id = isObject(item) && typeof item.id === 'string' ? normaliseSite(item.id) : '';
    if (!isObject(item) || id === '' || walletOf(id) !== undefined) {
      tally.add('sites without a usable id: left out', place);
      continue;
    }
    const held = wallets.get(id);
    if (held !== undefined) tally.add('sites listed more than once: their creators joined', id);
    const creators = held ?? new Set();
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
    tally.add('site creators that are no wallet: left out', `${id}, creators[${index}]`);
    return [];
  });
}
