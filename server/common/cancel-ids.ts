/** Range of MAX_CANCEL_IDS, for the setting, the parser and those that cancel in parts. Any thread. */

/** Ids of one cancel that every node takes. */
export const CANCEL_IDS_MIN = 1_000;
/** With their answers they fit a batch (docs/protocol.md#limits-of-a-request). */
export const CANCEL_IDS_MAX = 3_000;
