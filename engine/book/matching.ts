/**
 * The public surface of the matching core: everything that another program needs, and nothing else.
 * Start at README.md. memory.ts draws the memory; the methods of Matching are the operations.
 */
export { assert } from './assert.ts';
export { auditMatching } from './audit.ts';
export { copyMatching, type MatchingSpan, matchingSpans, matchingUse } from './copy.ts';
export { Matching } from './core.ts';
export { readSide, visitSide } from './depth.ts';
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
