/**
 * A thread that audits recovered tables, beside what else a start does and before anybody may write: it walks
 * every order, which takes longer than to load them. Says why they are wrong, or that they are not.
 */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { audit } from '../engine/audit.ts';
import { type EngineMemory, Tables } from '../engine/tables.ts';

/** Undefined: every invariant holds. */
export type AuditMessage = string | undefined;

const port = parentPort;
assert(port !== null, 'it runs as a thread');

function problemOf(memory: EngineMemory): AuditMessage {
  try {
    audit(new Tables(memory));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

port.postMessage(problemOf(workerData as EngineMemory));
