/**
 * Previews of the last minute, by key: an order is placed with the id of one of them.
 *
 * Thread: the one that owns it. In memory: another node, and the next run, do not have them.
 */
import { randomUUID } from 'node:crypto';
import type { PreviewAnswer } from '../../client/types.ts';
import { RecentCache } from '../common/recent-cache.ts';

export type PreviewedOrder = NonNullable<PreviewAnswer['order']> & {
  /** Wallet for which it was previewed. */
  readonly maker: string;
};

interface Kept {
  readonly order: PreviewedOrder;
  readonly until: number;
}

export interface TakenPreview {
  readonly order: PreviewedOrder;
  /** Lets it be taken again, because nothing was placed. */
  readonly giveBack: () => void;
}

export const PREVIEW_SECONDS = 60;
const MS = 1_000;
/** Previews of one key: more than a model compares. */
const OF_KEY_MAX = 32;
/** Keys with previews at a time. */
const KEYS_MAX = 1_024;

export class Previews {
  private readonly byOwner = new RecentCache<RecentCache<Kept>>(KEYS_MAX);
  private readonly now: () => number;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.now = now;
  }

  /** Returns the id with which the owner may place the order. */
  add(owner: string, order: PreviewedOrder): string {
    const id = randomUUID();
    this.put(owner, id, { order, until: this.now() + PREVIEW_SECONDS * MS });
    return id;
  }

  /** Takes the order of a preview, which places no other one. Returns `undefined` where the owner has none. */
  take(owner: string, id: string): TakenPreview | undefined {
    const previews = this.byOwner.get(owner);
    const kept = previews?.get(id);
    if (previews === undefined || kept === undefined) return undefined;
    previews.delete(id);
    if (kept.until < this.now()) return undefined;
    return { order: kept.order, giveBack: () => this.put(owner, id, kept) };
  }

  private put(owner: string, id: string, kept: Kept): void {
    let previews = this.byOwner.get(owner);
    if (previews === undefined) {
      previews = new RecentCache(OF_KEY_MAX);
      this.byOwner.set(owner, previews);
    }
    previews.set(id, kept);
  }
}
