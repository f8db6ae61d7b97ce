/** What a mirror says of itself, for `GET /status` and the metrics. Types and the schema of the answer. */
import { Type } from '../common/schema.ts';
import { DOUBT_REASONS, DOUBTS, type Doubt } from './doubts.ts';

export interface MirrorFacts {
  readonly url: string;
  readonly isConnected: boolean;
  /** Books that follow their source, that are in doubt, and whose levels are withdrawn. */
  readonly live: number;
  readonly doubted: number;
  readonly paused: number;
  /** Chosen markets that the catalog does not have yet. */
  readonly absent: number;
  /** Condition ids of chosen markets that are never mirrored, because they do not have two outcomes. */
  readonly leftOut: readonly string[];
  /** Events that the source has sent. */
  readonly events: number;
  /** How often a book came into doubt, by reason. */
  readonly doubts: ReadonlyMap<Doubt, number>;
  readonly troubled: readonly {
    readonly condition: string;
    readonly reason: Doubt;
    readonly isPaused: boolean;
    /** Unix milliseconds. */
    readonly since: number;
  }[];
}

/** Items of a list in an answer. */
const SHOWN_MAX = 100;

export const MirrorAnswer = Type.Object({
  source: Type.String({ description: 'MIRROR_URL' }),
  connected: Type.Boolean(),
  books: Type.Object({
    live: Type.Integer({ description: 'they follow their source' }),
    in_doubt: Type.Integer({ description: 'a new snapshot is awaited; their levels stay' }),
    paused: Type.Integer({ description: 'their levels are withdrawn until a new snapshot' }),
    absent: Type.Integer({ description: 'chosen, and not in the catalog of this node yet' }),
    left_out: Type.Integer({
      description: 'chosen, and never mirrored, because they do not have two outcomes',
    }),
  }),
  left_out: Type.Array(Type.String({ description: 'condition id' }), {
    description: `markets without two outcomes, ${SHOWN_MAX} at most`,
  }),
  troubled: Type.Array(
    Type.Object({
      market: Type.String({ description: 'condition id' }),
      reason: Type.Union(DOUBT_REASONS.map((reason) => Type.Literal(reason))),
      means: Type.String(),
      paused: Type.Boolean(),
      since_ms: Type.Integer({ description: 'unix milliseconds' }),
    }),
    { description: `books in doubt or paused, ${SHOWN_MAX} at most` },
  ),
});

export function shownMirror(facts: MirrorFacts) {
  return {
    source: facts.url,
    connected: facts.isConnected,
    books: {
      live: facts.live,
      in_doubt: facts.doubted,
      paused: facts.paused,
      absent: facts.absent,
      left_out: facts.leftOut.length,
    },
    left_out: facts.leftOut.slice(0, SHOWN_MAX),
    troubled: facts.troubled.slice(0, SHOWN_MAX).map(({ condition, isPaused, reason, since }) => ({
      market: condition,
      reason,
      means: DOUBTS[reason],
      paused: isPaused,
      since_ms: since,
    })),
  };
}
