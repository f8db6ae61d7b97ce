/**
 * The moments at which a node is killed: before or after a call of one of its threads, for the first time
 * that it comes to it.
 *
 *   before open segment.tmp   the call of node:fs, and the end of the name of its file
 *   inside transaction          of LMDB, in the follower's thread, with everything put
 */
export const KILL_MOMENTS: readonly string[] = [
  'before open segment.tmp',
  'after open segment.tmp',
  'before rename segment.tmp',
  'after rename segment.tmp',
  'before rm segment',
  'after rm segment',
  'before openSync image.tmp',
  'after writeSync image.tmp',
  'before renameSync image.tmp',
  'after renameSync image.tmp',
  'before rmSync image',
  'before transaction lmdb',
  'inside transaction lmdb',
  'after transaction lmdb',
];
