/**
 * Requests that cover a catalog: every object by each of its names, every list, every column in
 * both directions, every filter with one value at a time.
 *
 * Non-goals: combinations (catalog-targets.ts).
 */

import type { NaiveCatalog, Raw } from './naive-catalog.ts';
import { columnsOf } from './naive-lists.ts';

const KINDS = ['markets', 'events', 'tags'] as const;

export const SURVEY: Readonly<Record<string, (catalog: NaiveCatalog) => readonly string[]>> = {
  'every object is found by its id, its slug and its condition id': objects,
  'every list goes on to its end, also deep in it': lists,
  'every column sorts, up and down': columns,
  'every tag, event and series filters its own': filters,
  'every creator sees its own markets, and what holds them': creators,
  'the sampling lists show every open market, page by page': samplings,
};

function objects(catalog: NaiveCatalog): string[] {
  const conditions = catalog.markets.map(({ shown }) => String(shown.conditionId)).filter(Boolean);
  return [
    ...conditions.map((id) => `/markets/${id}`),
    ...catalog.series.map(({ id }) => `/series/${id}`),
    ...KINDS.flatMap((kind) =>
      catalog[kind].flatMap(({ id, shown }) => [
        `/${kind}/${id}`,
        `/${kind}/${id}/${kind === 'tags' ? 'related-tags' : 'tags'}`,
        ...(shown.slug === '' ? [] : [`/${kind}/slug/${slugOf(shown)}`]),
      ]),
    ),
  ];
}

function lists(catalog: NaiveCatalog): string[] {
  return ([...KINDS, 'series'] as const).flatMap((kind) => [
    ...range(catalog[kind].length, 500).map((offset) => `/${kind}?limit=500&offset=${offset}`),
    ...range(catalog[kind].length, 97).map((offset) => `/${kind}?limit=1&offset=${offset}`),
  ]);
}

function columns(catalog: NaiveCatalog): string[] {
  return (['markets', 'events'] as const).flatMap((kind) => {
    const count = catalog[kind].length;
    const offsets = [0, Math.floor(count / 3), Math.floor(count / 2), count - 20];
    return columnsOf(kind).flatMap((column) =>
      ['true', 'false'].flatMap((ascending) =>
        offsets.map(
          (offset) => `/${kind}?order=${column}&ascending=${ascending}&limit=25&offset=${offset}`,
        ),
      ),
    );
  });
}

function filters(catalog: NaiveCatalog): string[] {
  // One way or the other, in turn: all of them on the real catalog take seconds.
  return [
    ...catalog.tags.flatMap(({ id, shown }, row) =>
      row % 2 === 0
        ? [`/markets?limit=20&tag=${slugOf(shown)}`, `/events?limit=20&tag_id=${id}`]
        : [`/markets?limit=20&tag_id=${id}`, `/events?limit=20&tag_slug=${slugOf(shown)}`],
    ),
    ...catalog.events.flatMap(({ id, shown }, row) => [
      `/events?limit=3&slug=${slugOf(shown)}`,
      row % 2 === 0 ? `/markets?limit=3&event_slug=${slugOf(shown)}` : `/markets?event_id=${id}`,
    ]),
    ...catalog.series.map(({ shown }) => `/events?limit=20&series_slug=${slugOf(shown)}`),
  ];
}

/** Creators, also of shared slugs: the object under a shared slug depends on the creator. */
function creators(catalog: NaiveCatalog): string[] {
  const wallets = new Set(catalog.markets.map(({ creator }) => creator).filter(Boolean));
  const shared = KINDS.flatMap((kind) => {
    const slugs = catalog[kind].map(({ shown }) => slugOf(shown)).filter(Boolean);
    const repeated = new Set(slugs.filter((slug, place) => slugs.indexOf(slug) < place));
    return [...repeated].map((slug) => `/${kind}/slug/${slug}`);
  });
  return [...wallets, ...catalog.sites.keys(), 'nobody.example'].flatMap((creator) =>
    [
      ...[...KINDS, 'series'].map((kind) => `/${kind}`),
      ...KINDS.flatMap((kind) => catalog[kind].slice(-40).map(({ id }) => `/${kind}/${id}`)),
      ...shared,
    ].map((path) => `${path}?creator=${creator}`),
  );
}

function samplings(catalog: NaiveCatalog): string[] {
  return ['/sampling-markets', '/sampling-simplified-markets'].flatMap((path) =>
    range(catalog.markets.length, 499).map(
      (offset) => `${path}?next_cursor=${encodeURIComponent(btoa(String(offset)))}`,
    ),
  );
}

function slugOf(shown: Raw): string {
  return encodeURIComponent(String(shown.slug));
}

function range(end: number, step: number): number[] {
  return Array.from({ length: Math.ceil(end / step) + 1 }, (_, n) => n * step);
}
