/**
 * WebSockets of the attackers: frames are made once and sent unchanged, many at a time. Their masks
 * are zero, which leaves the bytes unchanged and costs the node as much as any other.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Opcode } from '../../common/socket-client.ts';
import type { Target } from './attack.ts';
import { flood, open } from './raw.ts';

const MASKED = 0x80;
const FINAL = 0x80;
const ANSWER_MS = 5_000;

const upgradeOf = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: node\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

export function frameOf(opcode: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? Buffer.alloc(2) : Buffer.alloc(4);
  head[0] = FINAL | opcode;
  head[1] = MASKED | Math.min(payload.length, 126);
  if (payload.length >= 126) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

export function textFrame(message: object | string): Buffer {
  return frameOf(Opcode.text, typeof message === 'string' ? message : JSON.stringify(message));
}

/** Requests an upgrade and waits for the handshake; later bytes are dropped. */
export async function upgrade(target: Target, socket: Socket, path: string): Promise<void> {
  socket.write(upgradeOf(path));
  await Promise.race([
    once(socket, 'data').then(
      ([chunk]) => target.answered((chunk as Buffer).toString('latin1', 9, 12)),
      () => undefined,
    ),
    // A connection that is closed without an answer.
    once(socket, 'close').catch(() => undefined),
    sleep(ANSWER_MS, undefined, { ref: false }),
  ]);
  socket.on('data', () => undefined);
}

export async function openStream(target: Target, path: string): Promise<Socket | undefined> {
  const socket = await open(target);
  if (socket === undefined) return undefined;
  await upgrade(target, socket, path);
  return socket.destroyed ? undefined : socket;
}

/**
 * Sends one set of frames repeatedly on some connections, and opens new ones where they are closed.
 */
export async function floodFrames(
  target: Target,
  path: string,
  frames: readonly Buffer[],
  connections: number,
): Promise<void> {
  const bytes = Buffer.concat(frames);
  const upgraded = (socket: Socket): Promise<void> => upgrade(target, socket, path);
  const lines = Array.from({ length: connections }, () =>
    flood(target, bytes, frames.length, upgraded),
  );
  await Promise.all(lines);
}
