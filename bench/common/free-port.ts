/** Ports for servers that have to know theirs before they listen, or that listen on it again. */

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that the system gives to connections: one of them could be taken before its server listens. */
const PORTS = [12_000, 32_000] as const;

/**
 * A port of 127.0.0.1 on which nobody listens. Processes that use this function do not get the same one: until this
 * process ends, it has the UDP port of the same number, which nobody else needs.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    const reserved = createSocket('udp4').unref();
    reserved.bind({ port, address: '127.0.0.1', exclusive: true });
    if ((await isListening(reserved)) && (await isFree(port))) return port;
    reserved.close();
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const isOurs = await isListening(server);
  await new Promise((resolve) => server.close(resolve));
  return isOurs;
}

function isListening(socket: NodeJS.EventEmitter): Promise<boolean> {
  return once(socket, 'listening').then(
    () => true,
    () => false,
  );
}
