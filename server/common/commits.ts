/** Commit state of a node of a cluster, for its reads. Thread: the I/O thread. */

export interface Commits {
  isCommitted(): boolean;
  /** Calls back once all that is applied now is committed; with false where it may never be. */
  whenCommitted(callback: (isCommitted: boolean) => void): void;
}
