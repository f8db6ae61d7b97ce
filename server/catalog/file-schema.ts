/**
 * The JSON Schema (2020-12) of a catalog file, with an example: what decides trading comes from the
 * rules of the file's reader, what is only shown from the columns of the catalog's objects.
 *
 * Pure; any thread. A file that matches has nothing that is left out, except by rules between
 * fields: the same number of outcomes and token ids, and ids that no other market claims.
 */
import {
  EVENT_FIELDS,
  type FieldRule,
  GROUP_FIELDS,
  MARKET_FIELDS,
  SITE_FIELDS,
  TOKENS_NEEDED,
} from '../../storage/catalog/catalog-fields.ts';
import { allColumns, type ColumnKind, type Kind } from './shape.ts';

type Json = Readonly<Record<string, unknown>>;

/** Schemas of columns by kind; live ones are no members of a file. */
const SHOWN: Readonly<Partial<Record<ColumnKind, Json>>> = {
  id: { type: 'string' },
  text: { type: ['string', 'null'] },
  date: { type: ['string', 'null'], description: 'ISO 8601; UTC where no zone is named' },
  boolean: { type: ['boolean', 'null'] },
  number: { type: ['number', 'null'] },
};

/** Other members are allowed: they are stored, exported again, and not shown. */
function objectOf(rules: Readonly<Record<string, FieldRule>>, kind?: Kind, nested: Json = {}) {
  const shown = kind === undefined ? [] : allColumns(kind);
  const traded = Object.entries(rules).map(([name, { does, schema }]) => {
    return [name, { description: does, ...schema }] as const;
  });
  const needed = Object.entries(rules).filter(([, { isNeeded }]) => isNeeded === true);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(
        shown.flatMap(({ name, kind }) => (SHOWN[kind] ? [[name, SHOWN[kind]]] : [])),
      ),
      ...Object.fromEntries(traded),
      ...nested,
    },
    required: needed.map(([name]) => name),
  };
}

const listOf = (name: string): Json => ({ type: 'array', items: { $ref: `#/$defs/${name}` } });

export function catalogFileSchema(): Json {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Catalog file',
    description: 'Read by `catalog import`, written by `catalog export`.',
    type: 'object',
    properties: {
      events: listOf('event'),
      tags: listOf('tag'),
      series: listOf('series'),
      sites: listOf('site'),
    },
    required: ['events'],
    $defs: {
      event: objectOf(EVENT_FIELDS, 'events', {
        markets: listOf('market'),
        tags: listOf('tag'),
        series: listOf('series'),
      }),
      market: { ...objectOf(MARKET_FIELDS, 'markets'), ...TOKENS_NEEDED },
      tag: objectOf(GROUP_FIELDS, 'tags'),
      series: objectOf(GROUP_FIELDS, 'series'),
      site: objectOf(SITE_FIELDS),
    },
    examples: [EXAMPLE],
  };
}

const CREATOR = `0x${'5e'.repeat(20)}`;
const FERRIES = { id: '21', label: 'Ferries', slug: 'ferries' };
const SEASON = { id: '31', title: 'Ferry season', slug: 'ferry-season', recurrence: 'yearly' };
const condition = (digit: string): string => `0x${digit.repeat(64)}`;

const EXAMPLE = {
  events: [
    {
      id: '5001',
      title: 'First ferry of 2028',
      slug: 'first-ferry-2028',
      description: 'The harbour log decides.',
      endDate: '2028-04-01T00:00:00Z',
      active: true,
      creator: CREATOR,
      tags: [FERRIES],
      series: [SEASON],
      markets: [
        {
          id: '50011',
          question: 'Will the first ferry of 2028 leave before 15 March?',
          slug: 'ferry-before-15-march-2028',
          conditionId: condition('1'),
          outcomes: ['Yes', 'No'],
          clobTokenIds: ['500111', '500112'],
          orderPriceMinTickSize: 0.01,
          orderMinSize: 5,
          endDate: '2028-03-15T00:00:00Z',
          active: true,
        },
      ],
    },
    {
      id: '5002',
      title: 'Busiest pier of 2028',
      slug: 'busiest-pier-2028',
      description: 'The pier with the most passengers in the yearly report.',
      active: true,
      negRisk: true,
      tags: [FERRIES],
      markets: ['North', 'South'].map((pier, index) => ({
        id: String(50021 + index),
        question: `Will the ${pier} pier have the most passengers in 2028?`,
        slug: `busiest-pier-2028-${pier.toLowerCase()}`,
        conditionId: condition(String(2 + index)),
        outcomes: ['Yes', 'No'],
        clobTokenIds: [`50021${2 * index + 1}`, `50021${2 * index + 2}`],
        orderPriceMinTickSize: 0.001,
        active: true,
      })),
    },
  ],
  tags: [FERRIES],
  series: [SEASON],
  sites: [{ id: 'ferries.example', creators: [CREATOR] }],
};
