/**
 * The thread of recovery-assistant.ts. It answers each task with the problem that it found, or with
 * nothing.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { auditOrders } from '../../engine/audit.ts';
import { rebuildOrderIndex } from '../../engine/orders/rebuild.ts';
import { type EngineMemory, Tables } from '../../engine/tables/tables.ts';
import { type LoadTask, readSpans } from '../snapshot/snapshots.ts';

export type AssistantTask = LoadTask | { readonly kind: 'orders'; readonly memory: EngineMemory };

/** The problem that it found, or the error with which it failed itself. */
export interface AssistantAnswer {
  readonly problem: string | undefined;
  readonly bug: string | undefined;
}

export interface AssistantSetup {
  readonly port: MessagePort;
  /** The number of answered tasks, in one word. The owner waits on it. */
  readonly answered: Int32Array;
}

const { answered, port } = workerData as AssistantSetup;

function answerOf(task: AssistantTask): AssistantAnswer {
  try {
    return { problem: problemOf(task), bug: undefined };
  } catch (error) {
    return { problem: undefined, bug: (error as Error).message };
  }
}

function problemOf(task: AssistantTask): string | undefined {
  if (task.kind === 'spans') return readSpans(task);
  if (task.kind === 'orders') return brokenOf(task.memory);
  rebuildOrderIndex(new Tables(task.memory));
  return undefined;
}

function brokenOf(memory: EngineMemory): string | undefined {
  try {
    auditOrders(new Tables(memory));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

port.on('message', (task: AssistantTask) => {
  port.postMessage(answerOf(task));
  Atomics.add(answered, 0, 1);
  Atomics.notify(answered, 0);
});
