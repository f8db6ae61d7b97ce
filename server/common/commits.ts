/** What reads of a node of a cluster wait for. Thread: the I/O thread. */

/** Whether what is applied now is committed, of a node of a cluster. */
export interface Commits {
  /** Whether all of it is. */
  isCommitted(): boolean;
  /** Calls back once all of it is; with false where it may never be. */
  whenCommitted(callback: (isCommitted: boolean) => void): void;
}
