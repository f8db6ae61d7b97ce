import assert from 'node:assert/strict';
import test from 'node:test';
import { RATE_LIMITS } from '../../server/http/limits/rate-limits.ts';

/** The published caps; GET /trades counts on two routes, apart from each other. */
const PUBLISHED = `
  catalog 4000/10, events 500/10, markets 300/10, listing 900/10, tags 200/10, search 350/10,
  trading 5000/10, health 50/10, book 200/10, books 80/10, price 200/10, prices 80/10,
  midpoint 200/10, pricesHistory 100/10, trades 150/10, ledgerTrades 150/10,
  orderBurst 2400/10, orderSustained 24000/600, cancelBurst 2400/10, cancelSustained 24000/600`;

/** Caps beside the published ones: of a route of this node, and counted by handlers. */
const OWN =
  ', replaceBurst 2400/10, replaceSustained 24000/600, explain 30/10, preview 200/10, sets 200/10, relay 60/10, agents 20/10, profile 20/10, invites 1000/3600, faults 60/10, mcp 300/10, keyOrders 24000/10, keysIssued 100/3600';

test('the caps equal the published ones, with those of this node', () => {
  const rows = Object.entries(RATE_LIMITS).map(
    ([name, { requests, seconds }]) => `${name} ${requests}/${seconds}`,
  );
  assert.deepEqual(rows, (PUBLISHED.trim() + OWN).split(/,\s+/));
});
