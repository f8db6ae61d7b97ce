/**
 * The requests of a measuring run: their kinds and shares. Thread: any. Non-goals: reads, and
 * requests with orders of several kinds (latency is reported by kind).
 */

/** Kinds of requests; a sample carries the index. */
export const KINDS = ['fok', 'gtc', 'cancel'] as const;
export type Kind = (typeof KINDS)[number];

/** Share of each kind among the requests, in percent. */
export type Mix = Readonly<Record<Kind, number>>;

/** Reads `fok=50,gtc=25,cancel=25`; undefined unless every name is a kind and the sum is 100. */
export function parseMix(text: string): Mix | undefined {
  const mix: Record<Kind, number> = { fok: 0, gtc: 0, cancel: 0 };
  for (const entry of text.split(',')) {
    const [, name, percent] = /^([a-z]+)=(\d{1,3})$/.exec(entry.trim()) ?? [];
    const kind = KINDS.find((known) => known === name);
    if (kind === undefined || mix[kind] !== 0) return undefined;
    mix[kind] = Number(percent);
  }
  // A cancel needs a resting order of the same run.
  if (mix.cancel > mix.gtc) return undefined;
  return mix.fok + mix.gtc + mix.cancel === 100 ? mix : undefined;
}

/** The kind that the number `percent`, 0 to 99, falls on. */
export function kindAt(mix: Mix, percent: number): Kind {
  if (percent < mix.fok) return 'fok';
  return percent < mix.fok + mix.gtc ? 'gtc' : 'cancel';
}
