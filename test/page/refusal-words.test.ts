/** Every refusal that a person can get for an order has words of its own, on the page as in a preview. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type RejectReasonCode, refusesOrder } from '../../engine/orders/reject-reasons.ts';
import { EndReason } from '../../engine/tables/codes.ts';
import { REJECTS, type RefusalCode } from '../../server/common/refusals.ts';
import { reasonText } from '../../server/orders/intake/order-states.ts';
import { endText, personText } from '../../server/page/app/refusal-words.ts';

/** Refusals of whole requests, by access, pauses and limits. */
const OF_REQUESTS: readonly RefusalCode[] = [
  'ENGINE_BUSY',
  'INTERNAL_ERROR',
  'INVALID_KEY',
  'INVALID_L2',
  'INVALID_ORDER_PAYLOAD',
  'JOURNAL_UNAVAILABLE',
  'MARKET_CLOSED',
  'MARKET_ENDED',
  'MARKET_HALTED',
  'MARKET_PROPOSED',
  'MARKET_RESOLVED',
  'NOT_LEADING',
  'ORDER_VERSION_MISMATCH',
  'OUTCOME_UNKNOWN',
  'POST_ONLY_MODE',
  'SHUTTING_DOWN',
  'TOO_MANY_IN_FLIGHT',
  'TOO_MANY_REQUESTS',
  'TRADING_DISABLED',
  'TRADING_PAUSED',
  'VENUE_RESTARTING',
];

test('each refusal of an order has a sentence of the page', () => {
  const ofEngine = Object.entries(REJECTS)
    .filter(([reason]) => refusesOrder(Number(reason) as RejectReasonCode))
    .map(([, { code }]) => code);
  for (const code of new Set([...ofEngine, ...OF_REQUESTS])) {
    const text = personText({ code, reason: 'text of the node' });
    assert.match(text, /^[A-Z].*[.?]$/, code);
    assert.doesNotMatch(text, /text of the node|_|[a-z][A-Z]/, code);
  }
});

test('a refusal without words says what the node says, and one without a text says that it is one', () => {
  assert.equal(personText({ code: undefined, reason: 'of a proxy' }), 'of a proxy');
  assert.equal(personText({ code: undefined, reason: '' }), 'The order was not taken.');
});

test('each end of an order that its owner did not ask for has words', () => {
  const unknown = endText('another');
  const { canceled, filled, none, ...others } = EndReason;
  for (const reason of Object.values(others))
    assert.notEqual(endText(reasonText(reason)), unknown, reasonText(reason));
  assert.equal(endText(undefined), unknown);
  assert.equal(endText(reasonText(none)), unknown);
  for (const reason of [canceled, filled]) assert.equal(endText(reasonText(reason)), unknown);
});
