/**
 * Random requests to the catalog routes. Filters are drawn around one object, so that many match,
 * in every spelling, with occasional faults.
 *
 * Non-goals: expected answers (naive-answers.ts).
 */

import { PARAMETERS, type Parameters } from '../../server/catalog/parameters.ts';
import type { Aim } from '../../server/catalog/query.ts';
import type { Kind } from '../../server/catalog/shape.ts';
import type { Random } from '../common/random.ts';
import type { NaiveCatalog, NaiveEvent, NaiveMarket } from './naive-catalog.ts';
import { columnsOf, snakeCase } from './naive-lists.ts';

interface Parameter {
  readonly names: readonly string[];
  readonly value: () => string;
  readonly bad: readonly string[];
  /** Percent of requests with this parameter; `undefined`: like the others of the request. */
  readonly chance?: number | undefined;
  readonly many?: boolean;
}

type Row = NaiveMarket | NaiveEvent;
type Raw = { readonly [name: string]: unknown };

const BAD_TEXTS = ['%zz', 'a%', '%ff', '%e4%b8'];
const BAD_FLAGS = ['', 'yes', 'TRUE', '2', '%zz', 'true%20'];
const BAD_IDS = ['', 'abc', '-1', '1.5', '1000000000000000', '+5', '%'];
const BAD_ORDERS = [
  'volumes',
  'ID',
  'nope',
  'id,nope',
  'id,id,slug,icon',
  'constructor',
  '__proto__',
  'events',
  '%',
];
const BAD_BOUNDS = ['', 'yesterday', '1e', '%zz', '2024-13-01x', '--1'];
const BAD_LIMITS = ['', '0', '501', '-1', 'ten', '1.5', '1e2', '+5', '5%20', '%zz', '9'.repeat(40)];
const BAD_OFFSETS = ['', '-1', 'x', '0.5', '9007199254740992', '%zz', '9'.repeat(40)];
const UNKNOWN = [
  'foo=bar',
  'foo=%zz',
  '=5',
  '&',
  'Limit=0',
  'LIMIT=0',
  '%zz=1',
  'volume_minimum=1',
];

export class CatalogTargets {
  readonly #random: Random;
  readonly #catalog: NaiveCatalog;
  readonly #wallets: readonly string[];

  constructor(random: Random, catalog: NaiveCatalog) {
    this.#random = random;
    this.#catalog = catalog;
    this.#wallets = [...new Set(catalog.markets.map(({ creator }) => creator))].filter(Boolean);
  }

  next(): string {
    const random = this.#random;
    const draw = random.below(100);
    for (const [kind, end] of [
      ['markets', 45],
      ['events', 70],
    ] as const) {
      if (draw >= end) continue;
      const isKeyset = random.chance(15);
      const parameters = PARAMETERS[isKeyset ? (`${kind}Keyset` as const) : kind];
      return this.#list(
        isKeyset ? `/${kind}/keyset` : `/${kind}`,
        this.#listParameters(kind, parameters),
      );
    }
    if (draw < 77) return this.#list(random.pick(['/series', '/tags']), this.#pageParameters());
    return this.#list(this.#path(), [this.#creator()]);
  }

  #list(path: string, parameters: readonly Parameter[]): string {
    const random = this.#random;
    const share = random.pick([10, 25, 50]);
    const parts: string[] = [];
    for (const { names, value, bad, chance = share, many } of parameters) {
      // Pages of a hundred are large: most requests select few.
      if (!random.chance(names[0] === 'limit' ? 90 : chance)) continue;
      const text = random.chance(3) ? random.pick(bad) : value();
      parts.push(`${random.pick(names)}=${text}`);
      if (many === true && random.chance(40)) parts.push(`${random.pick(names)}=${value()}`);
      if (random.chance(3)) parts.push(`${random.pick(names)}=${text}`);
      if (random.chance(3)) parts.push(`${random.pick(names)}=${value()}`);
    }
    if (random.chance(5)) parts.push(random.pick(UNKNOWN));
    const query = parts.sort(() => random.next() - 2 ** 31).join('&');
    return query === '' && random.chance(90) ? path : `${path}?${query}`;
  }

  #path(): string {
    const random = this.#random;
    const kind = random.pick(['markets', 'markets', 'events', 'tags'] as const);
    const row = random.pick<{ readonly shown: { readonly [name: string]: unknown } }>(
      this.#catalog[kind],
    ).shown;
    const slug = String(row.slug);
    const condition = String(row.conditionId ?? '');
    return random.pick([
      `/${kind}/${row.id}`,
      kind === 'tags'
        ? `/tags/${random.pick([row.id, `slug/${encodeURIComponent(slug || 'none')}`])}/related-tags${random.pick(['', '/tags'])}`
        : `/${kind}/${row.id}/tags`,
      `/${kind}/slug/${encodeURIComponent(slug === '' ? 'none' : slug)}`,
      `/${kind}/slug/${random.pick(['none', slug.toUpperCase() === slug ? 'NONE' : 'x', '%zz'])}`,
      `/${kind}/${random.pick(['0', '999999999999', 'abc', '1.5', '0x12', '12x'])}`,
      kind === 'markets' && condition !== '' ? `/markets/${condition}` : `/${kind}/${row.id}`,
      kind === 'markets' && condition !== ''
        ? `/markets/0x${condition.slice(2).toUpperCase()}`
        : `/${kind}/${row.id}`,
    ]);
  }

  /**
   * @param most rows of a page; one of events with their markets ends early when it is too large
   */
  #pageParameters(most = 500): Parameter[] {
    const random = this.#random;
    const sizes = [0, 1, 2, this.#catalog.events.length, this.#catalog.markets.length];
    const offset = () => {
      if (random.chance(10)) return random.pick(['9007199254740991', '4294967296', '1000000000']);
      return String(Math.max(0, random.pick(sizes) - random.below(4) + random.below(3)));
    };
    const limit = () =>
      String(
        Math.min(most, random.chance(95) ? random.between(1, 9) : random.pick([1, 100, 499, 500])),
      );
    return [
      { names: ['limit'], value: limit, bad: BAD_LIMITS },
      { names: ['offset'], value: offset, bad: BAD_OFFSETS },
      this.#creator(),
    ];
  }

  #listParameters(kind: 'markets' | 'events', { rows }: Parameters): Parameter[] {
    const random = this.#random;
    const objects: readonly Row[] = this.#catalog[kind];
    const object = random.pick(objects);
    const drawn = rows.flatMap(({ aim, many, names }): Parameter[] => {
      if (aim.by === 'flag') {
        const isSet = random.chance(85) ? object.shown[aim.column] === true : random.chance(50);
        const value = () => random.pick(isSet ? ['true', '1'] : ['false', '0']);
        return [{ names, value, bad: BAD_FLAGS }];
      }
      if (aim.by === 'range') {
        const value = () => this.#bound(random.pick(objects), object, aim);
        return [{ names, value, bad: BAD_BOUNDS, chance: 3 }];
      }
      if (aim.by !== 'key') return [];
      const value = () => {
        const others = Array.from({ length: many === 'comma' ? random.below(3) : 0 }, () => {
          return this.#key(random.pick(objects), aim);
        });
        return [this.#key(object, aim), ...others].join(random.pick([',', '%2C']));
      };
      const bad = aim.column === 'id' ? BAD_IDS : BAD_TEXTS;
      return [{ names, value, bad, many: many !== 'no', chance: aim.excludes ? 10 : undefined }];
    });
    const flag = (name: string): Parameter => {
      return { names: [name], value: () => random.pick(['true', '1', '0']), bad: BAD_FLAGS };
    };
    const settings = kind === 'markets' ? ['ascending', 'include_tag'] : ['ascending'];
    return [
      ...this.#pageParameters(rows.some(({ names }) => names.includes('offset')) ? 500 : 9),
      ...drawn,
      ...settings.map(flag),
      { ...flag('related_tags'), chance: 10 },
      this.#order(columnsOf(kind)),
    ];
  }

  /** A value of the parameter's column, from an object related to this one. */
  #key(row: Row, { column, of }: Aim & { readonly by: 'key' }): string {
    const random = this.#random;
    const event = 'event' in row ? row.event : row;
    const own: Readonly<Record<Kind, readonly { readonly id: number; readonly shown: Raw }[]>> = {
      markets: 'event' in row ? [row] : [],
      events: [event],
      series: event.series,
      tags: event.tags,
    };
    const all: readonly { readonly id: number; readonly shown: Raw }[] = this.#catalog[of];
    const { id, shown } = random.pick(own[of].length > 0 && random.chance(88) ? own[of] : all);
    if (column === 'id') return String(id);
    let text = String(shown[column]);
    if (column === 'clobTokenIds') text = random.pick([...(JSON.parse(text) as string[]), '7']);
    // A comma of its own would cut it in two.
    if (column !== 'slug') text = text.replaceAll(',', '');
    if (column === 'slug' || random.chance(50)) return this.#text(text);
    return this.#text(text.replace(/[a-f]/g, upper));
  }

  #bound(other: Row, object: Row, { column }: Aim & { readonly by: 'range' }): string {
    const value = (this.#random.chance(60) ? object : other).shown[column];
    if (value === null) return '2024-05-05';
    const text = String(value);
    return this.#text(/^\d{4}-/.test(text) && this.#random.chance(40) ? text.slice(0, 10) : text);
  }

  #order(columns: readonly string[]): Parameter {
    const random = this.#random;
    const value = () => {
      const names = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => {
        const column = random.pick(columns);
        return random.chance(50) ? column : snakeCase(column);
      });
      return names.join(random.pick([',', ',+', '%2C']));
    };
    return { names: ['order'], value, bad: BAD_ORDERS };
  }

  #creator(): Parameter {
    const random = this.#random;
    const value = () => {
      const wallet = random.pick(this.#wallets);
      const site = random.pick([...this.#catalog.sites.keys()]);
      return this.#text(
        random.pick([
          wallet,
          `0x${wallet.slice(2).toUpperCase()}`,
          site,
          site,
          `https://${site.toUpperCase()}./any/path?x=1`,
          ` http://${site}/ `,
          random.pick([
            `0x${'9'.repeat(40)}`,
            'nobody.example',
            'ümlaut',
            '__proto__',
            '0x',
            'https://',
          ]),
        ]),
      );
    };
    return { names: ['creator'], value, bad: BAD_TEXTS };
  }

  /**
   * A text as a query contains it, with escapes where they are required and sometimes elsewhere.
   */
  #text(value: unknown): string {
    const isOdd = this.#random.chance(20);
    return encodeURIComponent(String(value)).replace(/%20|%[0-9A-F]{2}|./g, (piece) => {
      if (piece === '%20') return this.#random.pick(['+', '%20']);
      if (piece.length > 1) return this.#random.chance(50) ? piece : piece.toLowerCase();
      const isEscaped = isOdd && this.#random.chance(20);
      return isEscaped ? `%${piece.charCodeAt(0).toString(16).padStart(2, '0')}` : piece;
    });
  }
}

function upper(text: string): string {
  return text.toUpperCase();
}
