/** Uses up the open files of a node by idle connections, with a real limit. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestNode } from './node-harness.ts';

const SPARE_FILES = 40;
const REOPEN_MS = 10;
/** Ten seconds for a node to take the connections that have come. */
const LOOK_MS = 5;
const LOOKS_MAX = 2_000;

function filesOf({ pid }: TestNode): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/**
 * Opens idle connections until the node has no file left, and some more, which wait in the kernel
 * and take each file that is released. Connections that time out are replaced. Returns a function
 * that ends them.
 */
export async function idleConnections(node: TestNode): Promise<() => void> {
  const limit = filesOf(node) + SPARE_FILES;
  const { status } = spawnSync('prlimit', [
    '--pid',
    String(node.pid),
    `--nofile=${limit}:${limit}`,
  ]);
  assert.equal(status, 0);
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = (): Socket => {
    const socket = connect(node.port, '127.0.0.1').on('error', () => undefined);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (!isOver) setTimeout(open, REOPEN_MS);
    });
    return socket;
  };
  for (let waiting = 0; waiting < SPARE_FILES; waiting += filesOf(node) < limit ? 0 : 1) {
    await once(open(), 'connect');
    // A node that stands still takes them later, and others would come in vain meanwhile.
    const isEnough = (): boolean => filesOf(node) >= limit || sockets.size < 2 * SPARE_FILES;
    for (let looks = 0; looks < LOOKS_MAX && !isEnough(); looks++) await sleep(LOOK_MS);
    assert(sockets.size < 10 * SPARE_FILES, 'the node has reached its limit');
  }
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}
