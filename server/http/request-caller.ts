/**
 * Caller of a request: the other end of its connection, or the address that a proxy forwards. Thread: I/O.
 */
import { clientAddress } from './address.ts';
import { type Caller, callerOf, callerOfBytes } from './limits/callers.ts';
import type { ServerState } from './server-state.ts';
import type { HttpResponse } from './uws.ts';

/**
 * Address of the other end, as the library or the known peer spells it; looked up on demand because of its
 * cost.
 */
export function peerAddress({ peers }: ServerState, response: HttpResponse): string {
  if (peers.sole !== undefined) return peers.sole.address;
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
}

export function callerOfRequest(
  server: ServerState,
  response: HttpResponse,
  forwardedFor: string,
): Caller {
  const { peers, trustProxy } = server;
  if (trustProxy > 0) {
    return callerOf(clientAddress(peerAddress(server, response), forwardedFor, trustProxy));
  }
  if (peers.sole !== undefined) return peers.sole.caller;
  return callerOfBytes(new Uint8Array(response.getRemoteAddress()));
}
