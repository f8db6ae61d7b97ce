/** Calls of a page to its node: those of everybody, without a wallet. */
import { signal } from '@preact/signals';
import { NodeClient } from '../../../../client/client.ts';
import type { ExchangeInfoAnswer } from '../../../../client/types.ts';

/** URL of the node: the trading page lies at `app/` below it, also behind a path prefix of a proxy. */
let url = new URL('..', document.baseURI).href;

let client: Promise<NodeClient> | undefined;

/** Kind of the node; undefined before the first client is connected. */
export const modes = signal<ExchangeInfoAnswer['mode'] | undefined>(undefined);

export function nodeUrl(): string {
  return url;
}

/** Sets the URL of a page that the public listener does not serve. */
export function setNodeUrl(other: string): void {
  url = other;
}

/** The client without a wallet. A failure is not kept: the next call connects again. */
export function publicClient(): Promise<NodeClient> {
  client ??= connect();
  return client;
}

async function connect(): Promise<NodeClient> {
  try {
    const connected = await NodeClient.connect(url);
    modes.value = connected.info.mode;
    return connected;
  } catch (error) {
    client = undefined;
    throw error;
  }
}
