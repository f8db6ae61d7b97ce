/**
 * The calls between nodes, by the number that a frame has for them. Numbers never change: nodes of two versions
 * talk to each other during an upgrade. What the bytes of a call mean is with who makes it.
 */
export const PeerCall = {
  /** A request of a client, as it came, to the node that leads (forwarded-requests.ts). */
  request: 1,
  /** Requests that place orders, checked by the node that took them (forwarded-orders.ts). */
  orders: 2,
  /** A copy of DATA_DIR, as a stream, for a node that joins (peer-copies.ts). */
  copy: 3,
  /** A change by an operator, to the node that leads (forwarded-operations.ts). */
  operation: 4,
  /** A generation of the catalog that the other node shall have; answered once it does (catalog-share.ts). */
  catalogOffer: 5,
  /** The content of a generation, as a stream (catalog-send.ts). */
  catalogContent: 6,
  /** Nothing: the answer shows that the other node runs, and can be reached (peer-connection.ts). */
  ping: 7,
  /** State of the other node and its time, as JSON (node-watch.ts). */
  state: 8,
} as const;

/** A failure that begins so: the node has done nothing, and the call may be made again. */
export const NOTHING_DONE = 'nothing was done: ';

export type PeerCallNumber = (typeof PeerCall)[keyof typeof PeerCall];
