/**
 * The matching core as one module: everything that another program needs, and nothing else. Start at
 * README.md; the memory is drawn in memory.ts, the operations are the methods of Matching.
 */
export { assert } from './assert.ts';
export { auditMatching } from './audit.ts';
export { copyMatching, type MatchingSpan, matchingSpans, matchingUse } from './copy.ts';
export { Matching } from './core.ts';
export { readSide } from './depth.ts';
export { NO_LEVEL, Side } from './levels.ts';
export {
  allocateMatching,
  allocateTable,
  doublesOf,
  LEVELS_MAX,
  ladderRows,
  type MatchingCapacities,
  type MatchingMemory,
  matchingBytes,
  type TableBytes,
  wordsOf,
} from './memory.ts';
export { canRescale, rescale } from './rescale.ts';
export { LANES, sideBySide } from './side-by-side.ts';
