/** Checks of what only a bug can cause: the matching core's, which imports nothing from here. */
export { assert } from './matching/matching.ts';
