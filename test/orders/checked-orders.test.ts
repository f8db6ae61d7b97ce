import assert from 'node:assert/strict';
import test from 'node:test';
import {
  CommandBuffer,
  CommandKind,
  commandKind,
  encodeCancel,
  encodeOrder,
  OrderCommand,
  OrderType,
  PrecheckFlags,
} from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { Status } from '../../engine/tables/codes.ts';
import type { MicroCollateral, MicroShares, TokenRow } from '../../engine/tables/units.ts';
import { RequestKind } from '../../server/orders/exchange-memory/slots.ts';
import {
  CheckedCompleter,
  decodeChecked,
  encodeChecked,
} from '../../server/orders/intake/checked-orders.ts';

const KIND = RequestKind.orders;
const MAKER = 7;
const REACH = 5;
const HEAD = { kind: KIND, reach: REACH, explanations: new Map() };

function commandsOf(...prechecks: number[]): CommandBuffer {
  return delayedBy(0, prechecks);
}

/** @param delay seconds of each order; 0 = none */
function delayedBy(delay: number, prechecks: readonly number[]): CommandBuffer {
  const out = new CommandBuffer();
  for (const [i, precheck] of prechecks.entries()) {
    encodeOrder(out, {
      token: 1 as TokenRow,
      side: 0,
      type: OrderType.GTC,
      postOnly: false,
      precheck,
      shares: 1 as MicroShares,
      collateral: 1 as MicroCollateral,
      expiration: 0,
      feeRateBps: 0,
      signatureType: 0,
      id: new Int32Array(8).fill(i + 1),
      maker: new Int32Array(5).fill(MAKER),
      signer: new Int32Array(5).fill(3),
      apiKey: new Int32Array(4),
      delay,
    });
  }
  return out;
}

function completed(precheck: number, isForgotten: boolean, banned = 0, delay = 0): number {
  const { i32, words } = delayedBy(delay, [precheck]);
  const looked: string[] = [];
  const completer = new CheckedCompleter({
    banned: { has: (address) => address[0] === banned },
    knownStatus: (id) => {
      looked.push(Buffer.from(id).toString('hex'));
      return Status.matched;
    },
  });
  completer.complete(i32, 0, words, isForgotten);
  for (const id of looked) assert.equal(id, '00000001'.repeat(8));
  return i32[OrderCommand.precheck]!;
}

test('commands read back as they were written', () => {
  const { i32, words } = commandsOf(0, PrecheckFlags.signature, RejectReason.postOnlyType);
  const bytes = encodeChecked(HEAD, i32, 0, words)!;
  const { commands, explanations, kind, reach } = decodeChecked(bytes, 0);
  assert.deepEqual([kind, reach, [...commands]], [KIND, REACH, [...i32.subarray(0, words)]]);
  assert.equal(explanations.size, 0);
});

test('the diagnosis of a signature stays with its command at any index', () => {
  const { i32, words } = commandsOf(0, PrecheckFlags.signature, 0);
  const told = { detail: 'it is of 0x1, “é”', facts: { recovered: '0x1' } };
  const at = 2 * OrderCommand.words;
  const explanations = new Map([[at, told]]);
  const bytes = encodeChecked({ ...HEAD, explanations }, i32, OrderCommand.words, words)!;
  const { commands, explanations: found } = decodeChecked(bytes, 1_000);
  assert.deepEqual([...commands], [...i32.subarray(OrderCommand.words, words)]);
  assert.deepEqual([...found], [[1_000 + OrderCommand.words, told]]);
});

test('a request goes to the leader unchecked when the leader may know more', () => {
  const { conditionUnknown, tokenUnknown, walletBanned } = RejectReason;
  for (const reason of [tokenUnknown, conditionUnknown, walletBanned]) {
    for (const delay of [0, 3]) {
      const { i32, words } = delayedBy(delay, [0, reason]);
      assert.equal(encodeChecked(HEAD, i32, 0, words), undefined);
    }
  }
  const cancel = new CommandBuffer();
  encodeCancel(cancel, new Int32Array(8).fill(tokenUnknown), new Int32Array(5));
  assert.equal(commandKind(cancel.i32, 0), CommandKind.cancel);
  assert(encodeChecked(HEAD, cancel.i32, 0, cancel.words) !== undefined);
});

test('an id that the leader has dropped since is looked up, and a known one stays known', () => {
  const known = (status: number): number => status << PrecheckFlags.knownShift;
  assert.equal(completed(0, false), 0);
  assert.equal(completed(0, true), known(Status.matched));
  assert.equal(completed(known(Status.canceled), true), known(Status.canceled));
  assert.equal(completed(RejectReason.postOnlyType, true), RejectReason.postOnlyType);
});

test('a newer ban counts, at its position among the rules', () => {
  const { ownerMismatch, postOnlyType, walletBanned } = RejectReason;
  assert.equal(completed(0, false, MAKER), walletBanned);
  assert.equal(completed(postOnlyType, false, MAKER), walletBanned);
  assert.equal(completed(ownerMismatch, false, MAKER), ownerMismatch);
  assert.equal(completed(0, false, MAKER, 3), walletBanned);
});
