/** Calls of a page to its node: those of everybody, without a wallet. */
import { NodeClient } from '../../../../client/client.ts';

/** URL of the node: the trading page lies at `app/` below it, also behind a path prefix of a proxy. */
let url = new URL('..', document.baseURI).href;

let client: Promise<NodeClient> | undefined;

export function nodeUrl(): string {
  return url;
}

/** Sets the URL of a page that the public listener does not serve. */
export function setNodeUrl(other: string): void {
  url = other;
}

/** The client without a wallet. A failure is not kept: the next call connects again. */
export function publicClient(): Promise<NodeClient> {
  client ??= NodeClient.connect(url).catch((error: unknown) => {
    client = undefined;
    throw error;
  });
  return client;
}
