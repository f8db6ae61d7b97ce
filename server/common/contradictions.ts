/**
 * Markets that contradict what is registered, as `GET /status` and the metrics show them: how many, and the first of
 * them. Types and the schema of the answer.
 */
import {
  CONTRADICTION_REASONS,
  CONTRADICTIONS,
  type Contradiction,
} from '../../storage/catalog/registered-markets.ts';
import { Type } from './schema.ts';

export interface Contradictions {
  readonly count: number;
  readonly first: readonly Contradiction[];
}

const CONTRADICTION_SOURCES = {
  catalog: 'stored by an earlier release, or beside a registration',
  sync: 'of CATALOG_SYNC_URL',
  mirror: 'of MIRROR_URL',
} as const;
type ContradictionSource = keyof typeof CONTRADICTION_SOURCES;
export type ContradictionFacts = Readonly<Record<ContradictionSource, Contradictions>>;

const SOURCES = Object.keys(CONTRADICTION_SOURCES) as ContradictionSource[];
/** Markets of each origin in memory and in an answer. */
const FIRST_MAX = 20;

export const NO_CONTRADICTIONS: Contradictions = { count: 0, first: [] };

export function contradictionsOf(all: readonly Contradiction[]): Contradictions {
  return { count: all.length, first: all.slice(0, FIRST_MAX) };
}

const Count = (source: ContradictionSource) =>
  Type.Integer({ description: CONTRADICTION_SOURCES[source] });

export const ContradictionsAnswer = Type.Object(
  {
    catalog: Count('catalog'),
    sync: Count('sync'),
    mirror: Count('mirror'),
    markets: Type.Array(
      Type.Object({
        source: Type.Union(SOURCES.map((source) => Type.Literal(source))),
        market: Type.String({ description: 'condition id' }),
        reason: Type.Union(CONTRADICTION_REASONS.map((reason) => Type.Literal(reason))),
        means: Type.String(),
      }),
      { description: `the first ${FIRST_MAX} of each` },
    ),
  },
  { description: 'markets that are not taken as a source names them: they stay as they are' },
);

export function shownContradictions(facts: ContradictionFacts) {
  const { catalog, mirror, sync } = facts;
  return {
    catalog: catalog.count,
    sync: sync.count,
    mirror: mirror.count,
    markets: SOURCES.flatMap((source) =>
      facts[source].first.map(({ conditionId, reason }) => ({
        source,
        market: conditionId,
        reason,
        means: CONTRADICTIONS[reason],
      })),
    ),
  };
}
