/**
 * What a prepared catalog must hold, written down once more from the rules over the raw objects of a
 * catalog file: plain, slow, and sharing no code with the product.
 */
import { showEventFigures, showMarketFigures } from './naive-figures.ts';

type Raw = { readonly [key: string]: unknown };

interface CatalogJson {
  readonly events: readonly Raw[];
  readonly tags?: readonly Raw[];
  readonly series?: readonly Raw[];
}

/** Objects ascending by id, as they are served; other objects by their places in their lists. */
export function expectedCatalog(json: CatalogJson) {
  const tags = byId(json.tags ?? []);
  const series = byId(json.series ?? []);
  const rawEvents = byId(json.events);
  const nested = (event: Raw, name: 'tags' | 'series', all: readonly Raw[]) => {
    const list = Array.isArray(event[name]) ? event[name] : [];
    const ids = list.map((item) => String(item?.id));
    return [...all.keys()].filter((row) => ids.includes(String(all[row]!.id)));
  };
  const pairs = rawEvents.flatMap((event, row) =>
    (event.markets as readonly Raw[]).map((raw) => ({ id: raw.id, raw, event, row })),
  );
  return {
    tags: tags.map(expectedTag),
    series: series.map(expectedSeries),
    events: rawEvents.map((raw) => ({
      core: expectedEvent(raw),
      tags: nested(raw, 'tags', tags),
      series: nested(raw, 'series', series),
      flags: flagsOf(raw),
      metadata: isObject(raw.eventMetadata) ? raw.eventMetadata : {},
    })),
    markets: byId(pairs).map(({ raw, event, row }) => ({
      core: expectedMarket(raw, event),
      event: row,
      flags: flagsOf(raw),
      description: text(raw.description),
      sampling: flagsOf(raw) === 1 ? expectedSampling(raw, event) : undefined,
    })),
  };
}

function expectedMarket(raw: Raw, event: Raw): Raw {
  const tick = raw.orderPriceMinTickSize ?? 0.01;
  const size = raw.orderMinSize ?? 5;
  return {
    id: String(raw.id),
    question: text(raw.question),
    conditionId: text(raw.conditionId),
    slug: text(raw.slug),
    resolutionSource: text(raw.resolutionSource),
    startDate: date(raw.startDate),
    endDate: date(raw.endDate),
    image: text(raw.image),
    icon: text(raw.icon),
    description: text(raw.description),
    outcomes: listText(raw.outcomes),
    clobTokenIds: listText(raw.clobTokenIds),
    active: raw.active === true,
    closed: raw.closed === true,
    archived: raw.archived === true,
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
    questionID: text(raw.questionID),
    negRisk: negRisk(raw, event),
    orderPriceMinTickSize: [0.1, 0.01, 0.001, 0.0001].includes(Number(tick)) ? Number(tick) : 0,
    // No minimum is the smallest order there is.
    orderMinSize: Number.isNaN(Number(size)) ? -1 : Number(size) || 0.000001,
    acceptingOrders: raw.acceptingOrders !== false,
    enableOrderBook: raw.enableOrderBook !== false,
    creator: creator(raw, event),
    ...showMarketFigures(JSON.parse(listText(raw.outcomes)).length),
  };
}

function expectedEvent(raw: Raw): Raw {
  return {
    id: String(raw.id),
    ticker: text(raw.ticker),
    slug: text(raw.slug),
    title: text(raw.title),
    description: text(raw.description),
    resolutionSource: text(raw.resolutionSource),
    startDate: date(raw.startDate),
    creationDate: date(raw.creationDate),
    endDate: date(raw.endDate),
    image: text(raw.image),
    icon: text(raw.icon),
    active: raw.active === true,
    closed: raw.closed === true,
    archived: raw.archived === true,
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
    ...showEventFigures([]),
  };
}

function expectedTag(raw: Raw): Raw {
  return {
    id: String(raw.id),
    label: text(raw.label),
    slug: text(raw.slug),
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
    requiresTranslation: raw.requiresTranslation === true,
  };
}

function expectedSeries(raw: Raw): Raw {
  return {
    id: String(raw.id),
    ticker: text(raw.ticker),
    slug: text(raw.slug),
    title: text(raw.title),
    seriesType: text(raw.seriesType),
    recurrence: text(raw.recurrence),
    image: text(raw.image),
    icon: text(raw.icon),
    active: raw.active === true,
    closed: raw.closed === true,
    archived: raw.archived === true,
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
  };
}

function expectedSampling(raw: Raw, event: Raw) {
  const isPaused = raw.acceptingOrders === false || raw.enableOrderBook === false;
  return {
    simplified: {
      condition_id: text(raw.conditionId),
      status: isPaused ? 'paused' : 'active',
      neg_risk: negRisk(raw, event),
      market_id: Number(raw.id),
      question: text(raw.question),
      slug: text(raw.slug),
      assets_ids: JSON.parse(listText(raw.clobTokenIds)),
      outcomes: JSON.parse(listText(raw.outcomes)),
    },
    metadata: isObject(raw.raw_metadata) ? raw.raw_metadata : {},
  };
}

function byId<Item extends Raw>(list: readonly Item[]): Item[] {
  return [...list].sort((a, b) => Number(a.id) - Number(b.id));
}

function isObject(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Z-forms as found; `2024-05-01 10:00:00+00` rewritten; the rest of what tests hold is no date. */
function date(value: unknown): string | null {
  const found = text(value);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(found)) return found;
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\+00$/.exec(found);
  return match === null ? null : `${match[1]}T${match[2]}.000Z`;
}

function listText(value: unknown): string {
  if (Array.isArray(value)) return JSON.stringify(value);
  return text(value).startsWith('[') ? text(value) : '[]';
}

function negRisk(raw: Raw, event: Raw): boolean {
  return (raw.negRisk ?? event.negRisk ?? false) as boolean;
}

function creator(raw: Raw, event: Raw): string {
  const wallets = [raw.creator, raw.submitted_by, event.creator, event.submitted_by];
  const found = wallets.find((wallet) => /^0x[0-9a-fA-F]{40}$/.test(text(wallet)));
  return text(found).toLowerCase();
}

function flagsOf(raw: Raw): number {
  return (
    Number(raw.active === true) +
    2 * Number(raw.closed === true) +
    4 * Number(raw.archived === true)
  );
}
