/**
 * Lower bound of an order's time on this machine at this time: a process that answers each byte of
 * a connection once it has overwritten a page of a file, durably. The answers of a node are
 * compared with it, because disks and processors are shared.
 *
 *   node bare-answer.js FILE        sends its port to its parent
 *
 * Thread: its only one.
 */
import { constants, openSync, writeSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';

const PAGE = Buffer.alloc(4_096, 1);
const PAGES = 256;

const [, , path = ''] = process.argv;
const { O_CREAT, O_DSYNC = 0, O_RDWR } = constants;
const file = openSync(path, O_RDWR | O_CREAT | O_DSYNC);
let count = 0;

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  socket.on('data', (asked: Buffer) => {
    for (let i = 0; i < asked.length; i++) {
      writeSync(file, PAGE, 0, PAGE.length, (count++ % PAGES) * PAGE.length);
      socket.write('.');
    }
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));
