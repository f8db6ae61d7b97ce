/**
 * Random requests to the catalog routes: filters drawn around one object, so that many match
 * something, spelled in every way there is, with faults strewn in.
 *
 * Non-goals: what has to be answered (naive-answers.ts).
 */

import type { Random } from '../common/random.ts';
import { EVENT_COLUMNS, MARKET_COLUMNS, snakeCase } from './naive-answers.ts';
import type { NaiveCatalog, NaiveEvent } from './naive-catalog.ts';

/** A parameter's names and how its value is drawn, encoded. */
interface Parameter {
  readonly names: readonly string[];
  readonly value: () => string;
  readonly bad: readonly string[];
}

const BAD_TEXTS = ['%zz', 'a%', '%ff', '%e4%b8'];
const BAD_FLAGS = ['', 'yes', 'TRUE', '2', '%zz', 'true%20'];
const BAD_IDS = ['', 'abc', '-1', '1.5', '1000000000000000', '+5', '%'];
const BAD_ORDERS = ['volumes', 'ID', 'nope', 'id,slug', 'constructor', '__proto__', 'events', '%'];
const BAD_LIMITS = ['', '0', '501', '-1', 'ten', '1.5', '1e2', '+5', '5%20', '%zz', '9'.repeat(40)];
const BAD_OFFSETS = ['', '-1', 'x', '0.5', '9007199254740992', '%zz', '9'.repeat(40)];
const UNKNOWN = ['foo=bar', 'foo=%zz', '=5', '&', 'Limit=0', 'LIMIT=0', '%zz=1', 'volume_min=1'];

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
    if (draw < 45) return this.#list('/markets', this.#marketParameters());
    if (draw < 70) return this.#list('/events', this.#eventParameters());
    if (draw < 77) return this.#list(random.pick(['/series', '/tags']), this.#pageParameters());
    return this.#list(this.#path(), [this.#creator()]);
  }

  #list(path: string, parameters: readonly Parameter[]): string {
    const random = this.#random;
    const share = random.pick([10, 25, 50]);
    const parts: string[] = [];
    for (const { names, value, bad } of parameters) {
      // Pages of a hundred are large: most requests ask for few.
      if (!random.chance(names[0] === 'limit' ? 90 : share)) continue;
      const text = random.chance(3) ? random.pick(bad) : value();
      parts.push(`${random.pick(names)}=${text}`);
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
      `/${kind}/slug/${encodeURIComponent(slug === '' ? 'none' : slug)}`,
      `/${kind}/slug/${random.pick(['none', slug.toUpperCase() === slug ? 'NONE' : 'x', '%zz'])}`,
      `/${kind}/${random.pick(['0', '999999999999', 'abc', '1.5', '0x12', '12x'])}`,
      kind === 'markets' && condition !== '' ? `/markets/${condition}` : `/${kind}/${row.id}`,
      kind === 'markets' && condition !== ''
        ? `/markets/0x${condition.slice(2).toUpperCase()}`
        : `/${kind}/${row.id}`,
    ]);
  }

  #pageParameters(): Parameter[] {
    const random = this.#random;
    const sizes = [0, 1, 2, this.#catalog.events.length, this.#catalog.markets.length];
    const offset = () => {
      if (random.chance(10)) return random.pick(['9007199254740991', '4294967296', '1000000000']);
      return String(Math.max(0, random.pick(sizes) - random.below(4) + random.below(3)));
    };
    const limit = () =>
      String(random.chance(95) ? random.between(1, 9) : random.pick([1, 100, 499, 500]));
    return [
      { names: ['limit'], value: limit, bad: BAD_LIMITS },
      { names: ['offset'], value: offset, bad: BAD_OFFSETS },
      this.#creator(),
    ];
  }

  #commonParameters(event: NaiveEvent, shown: { readonly [name: string]: unknown }): Parameter[] {
    const random = this.#random;
    const tag = () => (event.tags.length > 0 && random.chance(85) ? random.pick(event.tags) : null);
    const other = () => random.pick(this.#catalog.tags);
    const flag = (name: string): Parameter => {
      const held = random.chance(85) ? shown[name] === true : random.chance(50);
      const value = () => random.pick(held ? ['true', '1'] : ['false', '0']);
      return { names: [name], value, bad: BAD_FLAGS };
    };
    return [
      ...this.#pageParameters(),
      ...['active', 'closed', 'archived', 'ascending'].map(flag),
      { names: ['tag_id'], value: () => String((tag() ?? other()).id), bad: BAD_IDS },
      {
        names: ['tag', 'tag_slug'],
        value: () => this.#text((tag() ?? other()).shown.slug),
        bad: BAD_TEXTS,
      },
      { names: ['slug'], value: () => this.#text(shown.slug), bad: BAD_TEXTS },
    ];
  }

  #marketParameters(): Parameter[] {
    const random = this.#random;
    const market = random.pick(this.#catalog.markets);
    const event = random.chance(90) ? market.event : random.pick(this.#catalog.events);
    const named = random.chance(90) ? market : random.pick(this.#catalog.markets);
    const shownId = String(named.shown.conditionId);
    const conditionId = () =>
      this.#text(random.chance(50) ? shownId : shownId.replace(/[a-f]/g, upper));
    return [
      ...this.#commonParameters(event, market.shown),
      { names: ['event_id'], value: () => String(event.id), bad: BAD_IDS },
      {
        names: ['event_slug', 'eventSlug'],
        value: () => this.#text(event.shown.slug),
        bad: BAD_TEXTS,
      },
      { names: ['conditionId', 'condition_id'], value: conditionId, bad: BAD_TEXTS },
      this.#order(MARKET_COLUMNS),
    ];
  }

  #eventParameters(): Parameter[] {
    const random = this.#random;
    const event = random.pick(this.#catalog.events);
    const series = random.chance(85) ? event.series : this.#catalog.series;
    const slug = () => (series.length > 0 ? random.pick(series).shown.slug : 'none');
    return [
      ...this.#commonParameters(event, event.shown),
      { names: ['series_slug'], value: () => this.#text(slug()), bad: BAD_TEXTS },
      this.#order(EVENT_COLUMNS),
    ];
  }

  #order(columns: readonly string[]): Parameter {
    const value = () => {
      const column = this.#random.pick(columns);
      return this.#random.chance(50) ? column : snakeCase(column);
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

  /** A text as a query carries it: with escapes where they must be, and sometimes elsewhere. */
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
