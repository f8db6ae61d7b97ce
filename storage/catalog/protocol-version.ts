/** `version` of a market or an event. Any other value is that of the first protocol. */
export const VERSIONS = ['v1', 'v2'] as const;
export type ProtocolVersion = (typeof VERSIONS)[number];
/** Version of markets whose tokens are positions. */
export const POSITIONS_VERSION: ProtocolVersion = 'v2';
