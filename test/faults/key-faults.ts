/** Faults that a key makes for itself over real sockets. */
import assert from 'node:assert/strict';
import type { TestNode } from '../common/node-harness.ts';
import type { Trader } from '../common/traders.ts';

export type Fault = Readonly<Record<string, unknown>>;

export async function makeFault(node: TestNode, trader: Trader, fault: object): Promise<Fault> {
  const reply = await trader.ask(node, 'POST', '/faults', JSON.stringify(fault));
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Fault;
}

/** Clears all faults of a key. Returns how many. */
export async function clearFaults(node: TestNode, trader: Trader): Promise<number> {
  const { json, status, text } = await trader.ask(node, 'DELETE', '/faults');
  assert.equal(status, 200, text);
  return (json as { cleared: number }).cleared;
}

export async function faultsOf(node: TestNode, trader: Trader): Promise<readonly Fault[]> {
  const { json } = await trader.ask(node, 'GET', '/faults');
  return (json as { faults: Fault[] }).faults;
}
