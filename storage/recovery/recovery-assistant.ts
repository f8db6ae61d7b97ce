/**
 * A second thread for recovery. It does one task at a time while its owner does another. The owner
 * then waits for it and blocks its own event loop. Two processors halve the time of a start with
 * hundreds of megabytes.
 *
 * Thread: the recovering thread; never the I/O thread, which must not block.
 */
import assert from 'node:assert/strict';
import { MessageChannel, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { startThread } from '../files/thread.ts';
import type { AssistantAnswer, AssistantSetup, AssistantTask } from './assistant-thread.ts';

const WAIT_MS_MAX = 600_000;

export class RecoveryAssistant {
  private readonly answered = new Int32Array(new SharedArrayBuffer(4));
  private readonly port;
  private readonly thread: Worker;
  private requested = 0;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const workerData: AssistantSetup = { port: port2, answered: this.answered };
    const file = new URL('./assistant-thread', import.meta.url);
    this.thread = startThread(file, { workerData, transferList: [port2] });
  }

  /**
   * Begins a task. The returned function waits for its end and returns the problem, or undefined.
   */
  ask(task: AssistantTask): () => string | undefined {
    assert(Atomics.load(this.answered, 0) === this.requested, 'one thing at a time');
    this.requested += 1;
    this.port.postMessage(task);
    return () => {
      Atomics.wait(this.answered, 0, this.requested - 1, WAIT_MS_MAX);
      const received = receiveMessageOnPort(this.port);
      assert(received !== undefined, 'the thread beside the recovery answers');
      const answer = received.message as AssistantAnswer;
      if (answer.bug !== undefined) throw new Error(answer.bug);
      return answer.problem;
    };
  }

  async close(): Promise<void> {
    this.port.close();
    await this.thread.terminate();
  }
}
