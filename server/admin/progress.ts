/** How far log, follower and images are, as GET /status and the admin listener tell it. */

export interface Progress {
  /** Newest durable batch. */
  readonly durable: number;
  readonly follower: { readonly derived: number; readonly behindMs: number } | undefined;
  /** The newest image, and when it was there (unix milliseconds). */
  readonly image: { readonly sequence: number; readonly at: number } | undefined;
}

const MS = 1_000;

/** @param seconds unix seconds */
export function shownProgress({ durable, follower, image }: Progress, seconds: number) {
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
      image === undefined
        ? null
        : {
            sequence: image.sequence,
            age_seconds: Math.max(0, Math.floor(seconds - image.at / MS)),
          },
  };
}
