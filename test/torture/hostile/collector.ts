/**
 * Makes all threads of a node collect their garbage, so that its remaining memory is in use: V8 by
 * itself may wait for minutes. Uses the inspector protocol, which Node opens at SIGUSR1; the
 * product takes no part.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SocketClient } from '../../common/socket-client.ts';

/** Arguments of the node: any free port of this machine. */
export const COLLECTOR_ARGS = ['--inspect-port=127.0.0.1:0'];
/** Output of the node at the signal. */
export const COLLECTOR_ADDRESS = /Debugger listening on ws:\/\/127\.0\.0\.1:(\d+)(\/\S+)/;
/** Time-out of a thread: one that sleeps in a futex answers when it wakes. */
const ANSWER_MS_MAX = 2_000;
const POLL_MS = 10;
const COLLECT = { id: 1, method: 'HeapProfiler.collectGarbage' };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly message?: string };
}

export async function collectGarbage(port: number, path: string): Promise<void> {
  const inspector = await SocketClient.open({ port }, path);
  let threads = 1;
  let answers = 0;
  inspector.onText = (text) => {
    const { id, method, params } = JSON.parse(text) as Message;
    if (id === COLLECT.id) answers += 1;
    if (method === 'NodeWorker.receivedMessageFromWorker') answers += 1;
    if (method !== 'NodeWorker.attachedToWorker') return;
    threads += 1;
    const { sessionId } = params!;
    const message = JSON.stringify(COLLECT);
    inspector.send({
      id: COLLECT.id + threads,
      method: 'NodeWorker.sendMessageToWorker',
      params: { sessionId, message },
    });
  };
  const deadline = performance.now() + ANSWER_MS_MAX;
  inspector.send({ id: 0, method: 'NodeWorker.enable', params: { waitForDebuggerOnStart: false } });
  inspector.send(COLLECT);
  while (answers < threads && performance.now() < deadline) await sleep(POLL_MS);
  inspector.cut();
}
