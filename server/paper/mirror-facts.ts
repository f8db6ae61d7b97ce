/** State of the book mirror for `GET /status` and the metrics, with the schema of the answer. */
import { Type } from '../common/schema.ts';
import { STALE_REASON_NAMES, STALE_REASONS, type StaleReason } from './stale-books.ts';

export interface MirrorFacts {
  readonly url: string;
  readonly isConnected: boolean;
  /** Books that follow their source, stale books, and books whose levels are withdrawn. */
  readonly live: number;
  readonly stale: number;
  readonly paused: number;
  readonly absent: number;
  readonly leftOut: readonly string[];
  readonly events: number;
  readonly staleCounts: ReadonlyMap<StaleReason, number>;
  readonly staleBooks: readonly {
    readonly condition: string;
    readonly reason: StaleReason;
    readonly isPaused: boolean;
    readonly since: number;
  }[];
}

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
      reason: Type.Union(STALE_REASON_NAMES.map((reason) => Type.Literal(reason))),
      means: Type.String(),
      paused: Type.Boolean(),
      since_ms: Type.Integer({ description: 'unix milliseconds' }),
    }),
    { description: `stale or paused books, ${SHOWN_MAX} at most` },
  ),
});

export function shownMirror(facts: MirrorFacts) {
  return {
    source: facts.url,
    connected: facts.isConnected,
    books: {
      live: facts.live,
      in_doubt: facts.stale,
      paused: facts.paused,
      absent: facts.absent,
      left_out: facts.leftOut.length,
    },
    left_out: facts.leftOut.slice(0, SHOWN_MAX),
    troubled: facts.staleBooks
      .slice(0, SHOWN_MAX)
      .map(({ condition, isPaused, reason, since }) => ({
        market: condition,
        reason,
        means: STALE_REASONS[reason],
        paused: isPaused,
        since_ms: since,
      })),
  };
}
