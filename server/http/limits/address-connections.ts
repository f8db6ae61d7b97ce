/**
 * Open connections of each caller to a port, read from the socket tables of Linux in /proc/self/net. Other
 * systems have no such files.
 *
 * Files are read on a pool thread and parsed in slices on the I/O thread. A row of those tables: number,
 * local address, remote address (hexadecimal, each word of four bytes in the byte order of the machine),
 * state.
 */
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { callerKey, callerOfBytes } from './callers.ts';

/** Connections by caller, or undefined where the system has no such table. */
export type AddressConnections = () => Promise<ReadonlyMap<string, number> | undefined>;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Half a millisecond of parsing. */
const ROWS_PER_TURN = 500;

/** States in which this side holds a file: established, and closed by the other side only. */
const COUNTED_STATES = ['01', '08'];

const WORD_DIGITS = 8;

/** @param port called once it is known which one is open */
export function systemConnections(port: () => number): AddressConnections {
  return async () => {
    const counts = new Map<string, number>();
    try {
      for (const table of TABLES) {
        const text = await readFile(table, 'latin1').catch((error: NodeJS.ErrnoException) => {
          if (table === TABLES[0]) throw error;
          return ''; // a machine without IPv6
        });
        await count(text, port(), counts);
      }
    } catch {
      return undefined;
    }
    return counts;
  };
}

async function count(text: string, port: number, counts: Map<string, number>): Promise<void> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let rows = 0;
  let start = text.indexOf('\n') + 1; // the first line names the columns
  while (start > 0 && start < text.length) {
    const end = text.indexOf('\n', start);
    const [, local, remote, state] = text
      .slice(start, end < 0 ? undefined : end)
      .trim()
      .split(/ +/, 4);
    if (local?.endsWith(ending) === true && COUNTED_STATES.includes(state!)) {
      const key = callerKey(callerOfBytes(addressBytes(remote!)));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    start = end + 1;
    rows += 1;
    if (rows % ROWS_PER_TURN === 0) await setImmediate();
  }
}

/** `0100007F:1F90` is 127.0.0.1 on a little-endian processor. */
function addressBytes(remote: string): Uint8Array {
  const digits = remote.slice(0, remote.indexOf(':'));
  const bytes = Buffer.from(digits, 'hex');
  if (endianness() === 'LE') {
    for (let at = 0; at < bytes.length; at += WORD_DIGITS / 2) {
      bytes.subarray(at, at + WORD_DIGITS / 2).reverse();
    }
  }
  return bytes;
}
