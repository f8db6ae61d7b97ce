/**
 * The subscribers of the streams benchmark, in a process of their own: each takes what it is sent,
 * counts the frames and drops them.
 *
 * Arguments: port, token, how many. Answers a message of its parent with the number of frames of all.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { FrameCounter, HANDSHAKE, subscription } from './frame-counter.ts';

const [port, token, count] = process.argv.slice(2);
let frames = 0;
let bytes = 0;

async function subscribe(): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(HANDSHAKE);
  // The answer comes in one piece, and nothing behind it before a subscription.
  await once(socket, 'data');
  const counter = new FrameCounter(() => {
    frames += 1;
  });
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    counter.take(chunk);
  });
  socket.write(subscription([token!]));
}

for (let i = 0; i < Number(count); i++) await subscribe();
process.once('disconnect', () => process.exit(0));
process.on('message', () => process.send!({ frames, bytes }));
process.send!({ frames, bytes });
