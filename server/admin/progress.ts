/** How far log, follower and snapshots are, as GET /status and the admin listener show it. */

export interface Progress {
  /** Newest durable batch. */
  readonly durable: number;
  readonly follower: { readonly derived: number; readonly behindMs: number } | undefined;
  /** The newest snapshot, and when it was written (unix milliseconds). */
  readonly snapshot: { readonly sequence: number; readonly at: number } | undefined;
}

const MS = 1_000;

/** @param seconds unix seconds */
export function shownProgress({ durable, follower, snapshot }: Progress, seconds: number) {
  return {
    log: { sequence: durable },
    follower:
      follower === undefined
        ? null
        : {
            sequence: follower.derived,
            behind: Math.max(0, durable - follower.derived),
            behind_ms: Math.max(0, follower.behindMs),
          },
    image:
      snapshot === undefined
        ? null
        : {
            sequence: snapshot.sequence,
            age_seconds: Math.max(0, Math.floor(seconds - snapshot.at / MS)),
          },
  };
}
