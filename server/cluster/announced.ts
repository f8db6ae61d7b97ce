/** What a node announces of itself to the others. Pure. */

export interface Announced {
  /** How clients reach it. */
  readonly advertise: string;
  /** Where it answers the calls of other nodes, as an URL. */
  readonly peers: string;
  readonly mayLead: boolean;
  /** Digest of its node.key. */
  readonly key: string;
  /** The newest batch of its log when it started; older versions leave it out. */
  readonly last?: number;
}

export function announcedOf(value: Buffer): Announced {
  return JSON.parse(value.toString()) as Announced;
}
