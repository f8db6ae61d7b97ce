/**
 * The matching core as one module: everything that another program needs, and nothing else. Start at
 * README.md; the memory is drawn in memory.ts, the operations are the methods of Matching.
 */
export { auditMatching } from './audit.ts';
export { Matching, NO_LEVEL, Side } from './core.ts';
export {
  allocateMatching,
  LEVELS_MAX,
  ladderRows,
  type MatchingCapacities,
  type MatchingMemory,
} from './memory.ts';
export { canRescale, rescale } from './rescale.ts';
