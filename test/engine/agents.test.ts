/** Agents of wallets, rule by rule (docs/protocol.md#agents). Every command also runs on the naive ledger. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { encodeAgent } from '../../engine/commands.ts';
import { earliestDue } from '../../engine/due.ts';
import { agentView, findAgent } from '../../engine/ledger/agents.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import {
  AGENT_MS_MAX,
  AGENT_ORDERS_MAX,
  AGENTS_MAX,
  AGENTS_OF_WALLET_MAX,
} from '../../engine/tables/capacities.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { copyTables } from './copy-tables.ts';
import { addressWords, replay } from './engine-driver.ts';
import { WITH_LEDGER } from './ledger-duel.ts';
import { LedgerScript, UNIT } from './ledger-script.ts';
import type { AgentLine } from './naive-agents.ts';
import type { FillLine, OrderLine } from './naive-types.ts';

const { accepted, agentCash, agentEnded, agentMarket, agentSize } = RejectReason;
/** Micro-units that a test of a bound of 50 has to reach. */
const CLOSE = 45n * BigInt(UNIT);
/** An agent of wallet 1, and the day on which scripts begin. */
const AGENT = 901;
const DAY = 86_400;

type Terms = NonNullable<AgentLine['terms']>;

class AgentScript extends LedgerScript {
  /** Wallets 1 and 2 with cash and shares of both outcomes; the second one trades with the first. */
  constructor() {
    super();
    for (const wallet of [1, 2]) {
      this.fund('deposit', wallet, 10_000 * UNIT).fund('split', wallet, 1_000 * UNIT);
    }
  }

  agent(line: Partial<AgentLine>): number {
    const of = { kind: 'agent' as const, wallet: 1, agent: AGENT, owner: 1, isDerived: false };
    return this.duel.step({ ...of, ...line });
  }

  authorise(terms: Partial<Terms> = {}, more: Partial<AgentLine> = {}): number {
    const usual = { cash: 50 * UNIT, size: 1_000 * UNIT, end: 300 * DAY * 1_000, markets: [] };
    return this.agent({ terms: { ...usual, ...terms }, ...more });
  }

  revoke(more: Partial<AgentLine> = {}): number {
    return this.agent(more);
  }

  view(agent = AGENT, wallet = 1) {
    const account = findAccount(this.t, addressWords(wallet), 0);
    const row = findAgent(this.t, account, addressWords(agent), 0);
    assert(row !== 0);
    return agentView(this.t, row, this.duel.driver.engine.context.time);
  }

  left(): number {
    this.duel.settle();
    return this.view().left / UNIT;
  }

  compare(): void {
    this.duel.settle();
    this.duel.compareAll();
    audit(this.t);
  }
}

function authorised(terms: Partial<Terms> = {}): AgentScript {
  const script = new AgentScript();
  assert.equal(script.authorise(terms), accepted);
  return script;
}

test('an agent spends its cash of the day to the last micro-unit, and no more, with any type of order', () => {
  for (const type of ['GTC', 'GTD until 1000', 'FOK', 'FAK']) {
    const script = authorised().do('sell #1 200 @ 0.50 by 2');
    const refused = `buy #2 100.000002 @ 0.50 by 1/${AGENT} ${type}`;
    assert.equal(script.reason(refused), agentCash, type);
    script.do(`buy #3 100 @ 0.50 by 1/${AGENT} ${type}`);
    assert.equal(script.left(), 0);
    assert.equal(script.reason(`buy #4 0.000002 @ 0.50 by 1/${AGENT} ${type}`), agentCash, type);
    script.compare();
  }
});

test('open purchases count as they reserve, and give back what was not filled when they end', () => {
  const script = authorised().do(
    `buy #1 60 @ 0.50 by 1/${AGENT}`,
    `buy #2 40 @ 0.50 by 1/${AGENT}`,
  );
  assert.equal(script.left(), 0);
  script.do('sell #3 20 @ 0.50 by 2', `cancel #1 by ${AGENT}`);
  assert.equal(script.left(), 20);
  assert.equal(script.reason(`buy #4 40.000002 @ 0.50 by 1/${AGENT}`), agentCash);
  script.do(`buy #5 40 @ 0.50 by 1/${AGENT} GTD until 10`, 'at 10');
  assert.equal(script.left(), 20);
  script.compare();
});

test('a fill counts for the day of its batch, and purchases of yesterday count until they end', () => {
  const script = authorised().do(`buy #1 60 @ 0.50 by 1/${AGENT}`, 'sell #2 20 @ 0.50 by 2');
  assert.deepEqual([script.left(), script.view().spent], [20, 10 * UNIT]);
  script.do(`at ${DAY - 0.001}`, `buy #3 40 @ 0.50 by 1/${AGENT}`, `at ${DAY}`);
  assert.equal(script.left(), 10);
  script.do('sell #4 40 @ 0.50 by 2');
  assert.deepEqual([script.left(), script.view().spent], [10, 20 * UNIT]);
  assert.equal(script.reason(`buy #5 20.000002 @ 0.50 by 1/${AGENT}`), agentCash);
  script.do(`buy #6 20 @ 0.50 by 1/${AGENT}`);
  script.compare();
});

test('the fee of a taker counts, as the largest before its fills and as what was paid after them', () => {
  const script = authorised().do('fees 1 0.05 1', 'sell #1 200 @ 0.50 by 2');
  assert.equal(script.reason(`buy #2 100 @ 0.50 by 1/${AGENT}`), agentCash);
  assert.equal(script.reason(`buy #3 97.57 @ 0.50 by 1/${AGENT}`), agentCash);
  script.do(`buy #4 97.56 @ 0.50 by 1/${AGENT}`);
  const { spent } = script.view();
  assert.equal(spent, 97.56 * 0.5 * UNIT + 97.56 * 0.0125 * UNIT);
  assert.equal(script.left(), (50 * UNIT - spent) / UNIT);
  script.compare();
});

test('a sale spends nothing, and obeys size, markets and end', () => {
  const script = new AgentScript();
  script.do('market 2').fund('split', 1, 100 * UNIT, { market: 2 });
  assert.equal(script.authorise({ cash: 0, size: 10 * UNIT, markets: [2] }), accepted);
  assert.equal(script.reason(`sell #1 5 @ 0.50 by 1/${AGENT}`), agentMarket);
  assert.equal(script.reason(`sell #2 11 @ 0.50 token 3 by 1/${AGENT}`), agentSize);
  assert.equal(script.reason(`buy #3 1 @ 0.50 token 3 by 1/${AGENT}`), agentCash);
  script.do(`sell #4 10 @ 0.50 token 3 by 1/${AGENT}`);
  assert.equal(script.authorise({ end: 9_000 }), accepted);
  script.do('at 9');
  assert.equal(script.reason(`sell #5 1 @ 0.50 by 1/${AGENT}`), agentEnded);
  script.compare();
});

test('the end of an agent is due, and cancels its open orders with the batch of that time', () => {
  const script = authorised({ end: 9_000 }).do(`buy #1 60 @ 0.50 by 1/${AGENT}`);
  script.do(`sell #2 60 @ 0.90 by 1/${AGENT}`, 'buy #3 1 @ 0.10 by 1');
  assert.equal(earliestDue(script.t), 9_000);
  script.do('at 8.999', 'sell #4 1 @ 0.50 by 2', 'at 9', 'sell #5 1 @ 0.50 by 2');
  assert.equal(script.reason('cancel #1 by 901'), RejectReason.orderNotFound);
  assert.equal(script.reason('cancel #2 by 901'), RejectReason.orderNotFound);
  script.duel.settle();
  assert.deepEqual([script.view().state, script.view().openOrders], ['ended', 0]);
  assert.equal(earliestDue(script.t), 0);
  script.do('cancel #3 by 1').compare();
});

test('a revoked agent places nothing, and its open orders are cancelled, those that wait for a delay too', () => {
  const script = authorised().do('delay 1 5', 'sell #1 10 @ 0.50 by 2');
  script.do(`buy #2 10 @ 0.50 by 1/${AGENT}`, `buy #3 10 @ 0.40 by 1/${AGENT}`);
  assert.deepEqual([script.left(), script.view().openOrders], [41, 2]);
  assert.equal(script.revoke({ owner: 2 }), RejectReason.walletForeign);
  assert.equal(script.revoke({ agent: 902 }), RejectReason.agentUnknown);
  assert.equal(script.revoke(), accepted);
  assert.equal(script.revoke(), RejectReason.idRepeated);
  assert.equal(script.reason(`buy #4 1 @ 0.50 by 1/${AGENT}`), agentEnded);
  assert.equal(script.view().openOrders, 0);
  script.do('at 20').compare();
  assert.equal(script.view().spent, 0);
  assert.equal(script.authorise(), accepted);
  script.do(`buy #5 1 @ 0.40 by 1/${AGENT}`).compare();
});

test('a lower bound of the owner stops purchases, and what was spent stays spent', () => {
  const script = authorised().do('sell #1 60 @ 0.50 by 2', `buy #2 60 @ 0.50 by 1/${AGENT}`);
  script.authorise({ cash: 10 * UNIT });
  assert.equal(script.reason(`buy #3 1 @ 0.50 by 1/${AGENT}`), agentCash);
  script.revoke();
  script.authorise({ cash: 40 * UNIT });
  assert.equal(script.left(), 10);
  script.compare();
});

test('a delayed purchase reserves its largest fee, and ends where a higher one would exceed the cash', () => {
  const script = authorised().do('fees 1 0.01 1', 'delay 1 5', 'sell #1 200 @ 0.50 by 2');
  script.do(`buy #2 50 @ 0.50 by 1/${AGENT}`, `buy #3 48 @ 0.50 by 1/${AGENT}`);
  assert.equal(script.left(), 50 - 98 * 0.5 - 98 * 0.0025);
  script.do('fees 1 0.05 1');
  assert.equal(script.view().openOrders, 1);
  script.do('at 7');
  assert.equal(script.view().spent, 25 * UNIT + 50 * 0.0125 * UNIT);
  script.compare();
});

test('a fee that falls ends no delayed purchase, also where the cash was lowered meanwhile', () => {
  const script = authorised().do('fees 1 0.02 1', 'delay 1 5', 'sell #1 200 @ 0.50 by 2');
  script.do(`buy #2 80 @ 0.50 by 1/${AGENT}`);
  assert.equal(script.authorise({ cash: 10 * UNIT }), accepted);
  script.do('fees 1 0.01 1');
  assert.equal(script.view().openOrders, 1);
  script.do('fees 1 0.011 1');
  assert.equal(script.view().openOrders, 0);
  script.compare();
});

test('a purchase that fails later stays spent', () => {
  const script = authorised().do('sell #1 60 @ 0.50 by 2');
  script.do(`buy #2 60 @ 0.50 by 1/${AGENT} fails 500`, 'at 4');
  assert.deepEqual([script.left(), script.view().spent], [20, 30 * UNIT]);
  script.compare();
});

test('an agent cancels its own orders alone, and the signer of the wallet those of its agents', () => {
  const script = authorised().do('buy #1 1 @ 0.10 by 1', `buy #2 1 @ 0.10 by 1/${AGENT}`);
  script.authorise({}, { agent: 902 });
  script.do('buy #3 1 @ 0.10 by 1/902');
  const { orderNotFound } = RejectReason;
  assert.equal(script.reason(`cancel #1 by ${AGENT}`), orderNotFound);
  assert.equal(script.reason(`cancel #3 by ${AGENT}`), orderNotFound);
  assert.equal(script.reason('cancel #2 by 2'), orderNotFound);
  script.do('cancel #2 by 1', `cancel-all by ${AGENT}`, 'cancel #3 by 1', 'cancel #1 by 1');
  script.compare();
});

test('another signer of a wallet ends the agents that the one before has authorised', () => {
  const script = new AgentScript();
  script.fund('deposit', 5, 100 * UNIT).fund('declare', 5, 0, { signer: 7 });
  const of = { wallet: 5, owner: 7 };
  assert.equal(script.authorise({}, { ...of, owner: 8 }), RejectReason.walletForeign);
  assert.equal(script.authorise({}, of), accepted);
  script.do(`buy #1 10 @ 0.50 by 5/${AGENT}`, `buy #2 10 @ 0.50 by 5/7`);
  script.fund('declare', 5, 0, { signer: 8 });
  assert.equal(script.reason(`buy #3 1 @ 0.50 by 5/${AGENT}`), agentEnded);
  assert.deepEqual(script.cash(5), [100 * UNIT, 0]);
  script.compare();
});

test('an order or an authorisation of another signer ends the agents of the one before, with their orders', () => {
  const script = new AgentScript();
  script.fund('deposit', 5, 200 * UNIT).fund('declare', 5, 0, { signer: 7 });
  const by7 = { wallet: 5, owner: 7 };
  const buyOf = (id: number, agent: number): string => `buy #${id} 100 @ 0.50 by 5/${agent}`;
  assert.equal(script.authorise({}, by7), accepted);
  assert.equal(script.authorise({}, { ...by7, agent: 902 }), accepted);
  script.do(buyOf(1, AGENT), buyOf(2, 902));
  assert.equal(script.authorise({}, { wallet: 5, owner: 5, agent: 902 }), accepted);
  assert.deepEqual(script.view(AGENT, 5).state, 'revoked');
  assert.deepEqual([script.view(902, 5).state, script.view(902, 5).openOrders], ['active', 0]);
  assert.equal(script.reason(buyOf(3, AGENT)), agentEnded);
  script.do(buyOf(4, 902)).compare();
  for (const delay of [0, 5]) {
    const wallet = delay === 0 ? 20 : 21;
    script.fund('deposit', wallet, 100 * UNIT).fund('declare', wallet, 0, { signer: 7 });
    assert.equal(script.authorise({}, { wallet, owner: 7 }), accepted);
    script.do(`delay 1 ${delay}`, `buy #${wallet} 100 @ 0.40 by ${wallet}/${AGENT}`);
    script.do(`sell #${wallet + 100} 9 @ 0.60 by 2`, `buy #${wallet + 200} 9 @ 0.60 by ${wallet}`);
    const { openOrders, state } = script.view(AGENT, wallet);
    assert.deepEqual([openOrders, state], [0, 'revoked']);
    script.do(`at ${wallet}`).compare();
  }
});

test('an order that binds may meet the orders of the agents that it ends', () => {
  const script = new AgentScript();
  script.fund('deposit', 5, 200 * UNIT).fund('declare', 5, 0, { signer: 7 });
  script.fund('split', 5, 100 * UNIT);
  assert.equal(script.authorise({}, { wallet: 5, owner: 7 }), accepted);
  script.do(`buy #1 60 @ 0.50 by 5/${AGENT}`, 'sell #2 40 @ 0.50 by 5 FOK');
  assert.equal(script.reason('cancel #1 by 5'), RejectReason.orderNotFound);
  assert.equal(script.view(AGENT, 5).spent, 20 * UNIT);
  script.compare();
});

test('an agent ends no order of its owner by self-trade, and its own as the setting says', () => {
  for (const policy of ['cancel-taker', 'cancel-maker', 'cancel-both']) {
    const script = authorised().do(`policy ${policy}`, 'buy #1 50 @ 0.40 by 1');
    script.do('buy #2 5 @ 0.41 by 2', 'sell #3 50 @ 0.60 by 1');
    const byAgent = (id: number, line: string): number =>
      script.reason(`${line.replace(' ', ` #${id} `)} by 1/${AGENT}`);
    const { selfTrade } = RejectReason;
    // Its first order: the agent has no account yet.
    assert.equal(byAgent(4, 'buy 1 @ 0.60'), selfTrade, policy);
    assert.equal(byAgent(5, 'buy 1 @ 0.60 FOK'), selfTrade, policy);
    assert.equal(byAgent(6, 'sell 9 @ 0.40'), accepted, policy);
    assert.equal(byAgent(7, 'sell 1 @ 0.40 FAK'), selfTrade, policy);
    assert.equal(byAgent(8, 'buy 9 @ 0.50'), accepted, policy);
    const isEnded = policy === 'cancel-maker';
    assert.equal(byAgent(9, 'sell 9 @ 0.50'), isEnded ? accepted : selfTrade, policy);
    const left = policy === 'cancel-taker' ? accepted : RejectReason.orderNotFound;
    assert.equal(script.reason(`cancel #8 by ${AGENT}`), left, policy);
    script.do('delay 1 5', 'sell #11 9 @ 0.55 by 2');
    assert.equal(byAgent(10, 'buy 9 @ 0.60'), accepted, policy);
    script.do('cancel #11 by 2', 'at 30', 'cancel #1 by 1', 'cancel #3 by 1').compare();
  }
});

test('an order that an agent signs binds nothing, and does not make the agent a signer of the wallet', () => {
  const script = authorised().do(`buy #1 10 @ 0.50 by 1/${AGENT} foreign`);
  script.revoke();
  assert.equal(script.reason(`buy #2 1 @ 0.50 by 1/${AGENT}`), agentEnded);
  assert.equal(script.reason('buy #3 1 @ 0.50 by 1/902 foreign'), RejectReason.signature);
  assert.equal(script.reason('buy #4 1 @ 0.50 by 1/902'), RejectReason.binding);
  script.do('buy #5 1 @ 0.50 by 1').compare();
});

test('terms that are none are refused, and change nothing', () => {
  const script = new AgentScript();
  const now = 2_000;
  const before = stateHash(script.t);
  const { agentEndInvalid, agentInvalid, amountInvalid, marketUnknown, walletUnknown } =
    RejectReason;
  const refused = [
    [script.authorise({ cash: -1 }), amountInvalid],
    [script.authorise({ cash: 0.5 }), amountInvalid],
    [script.authorise({ cash: 2 ** 53 }), amountInvalid],
    [script.authorise({ size: 0 }), amountInvalid],
    [script.authorise({ end: now }), agentEndInvalid],
    [script.authorise({ end: now + AGENT_MS_MAX + 1 }), agentEndInvalid],
    [script.authorise({ markets: [1, 9] }), marketUnknown],
    [script.authorise({}, { agent: 1 }), agentInvalid],
    [script.authorise({}, { wallet: 2, agent: 1, isDerived: true }), agentInvalid],
    [script.authorise({}, { wallet: 77, owner: 77 }), walletUnknown],
  ];
  for (const [reason, expected] of refused) assert.equal(reason, expected);
  assert.equal(stateHash(script.t), before);
  assert.equal(script.authorise({ end: now + AGENT_MS_MAX }), accepted);
});

test('a wallet has 8 agents, and another takes the place of one that has ended', () => {
  const script = new AgentScript();
  for (let i = 0; i < AGENTS_OF_WALLET_MAX; i++) {
    assert.equal(script.authorise({}, { agent: 910 + i }), accepted);
  }
  script.do('buy #1 1 @ 0.50 by 1/913');
  assert.equal(script.authorise(), RejectReason.agentsFull);
  assert.equal(script.revoke({ agent: 913 }), accepted);
  assert.equal(script.authorise(), accepted);
  assert.equal(script.reason('buy #2 1 @ 0.50 by 1/913'), RejectReason.binding);
  script.do(`buy #3 1 @ 0.50 by 1/${AGENT}`).compare();
});

test('an agent that has spent is forgotten on another day alone, so that no day pays its cash twice', () => {
  const script = authorised().do('sell #1 200 @ 0.50 by 2', `buy #2 100 @ 0.50 by 1/${AGENT}`);
  assert.equal(script.revoke(), accepted);
  for (let i = 1; i < AGENTS_OF_WALLET_MAX; i++) {
    assert.equal(script.authorise({}, { agent: 910 + i }), accepted);
  }
  assert.equal(script.authorise({}, { agent: 920 }), RejectReason.agentsFull);
  assert.equal(script.authorise(), accepted);
  assert.equal(script.reason(`buy #3 0.000002 @ 0.50 by 1/${AGENT}`), agentCash);
  assert.equal(script.revoke(), accepted);
  script.do(`at ${DAY}`);
  assert.equal(script.authorise({}, { agent: 920 }), accepted);
  assert.equal(script.authorise(), RejectReason.agentsFull);
  script.compare();
});

test('an agent has 128 open orders', () => {
  const script = authorised();
  for (let i = 1; i <= AGENT_ORDERS_MAX; i++) script.do(`buy #${i} 1 @ 0.01 by 1/${AGENT}`);
  const { tooManyOpen } = RejectReason;
  assert.equal(script.reason(`buy #500 1 @ 0.01 by 1/${AGENT}`), tooManyOpen);
  script.do('delay 1 5', 'sell #501 9 @ 0.50 by 2');
  assert.equal(script.reason(`buy #502 1 @ 0.50 by 1/${AGENT} FAK`), tooManyOpen);
  script.do('delay 1 0', `buy #503 1 @ 0.50 by 1/${AGENT} FAK`, `cancel #7 by ${AGENT}`);
  script.do(`buy #504 1 @ 0.01 by 1/${AGENT}`).compare();
  assert.equal(script.revoke(), accepted);
  assert.equal(script.view().openOrders, 0);
  script.compare();
});

test('a full table takes an agent in place of one that has ended, and is sound', () => {
  const script = new AgentScript();
  const { driver } = script.duel;
  const authorise = (wallet: number, agent: number, end: number) =>
    driver.apply((out) =>
      encodeAgent(
        out,
        {
          wallet: addressWords(wallet),
          agent: addressWords(agent),
          owner: addressWords(wallet),
          isDerived: false,
        },
        { cash: UNIT, size: UNIT, end, markets: [] },
      ),
    );
  const wallets = AGENTS_MAX / AGENTS_OF_WALLET_MAX;
  for (let i = 0; i < wallets; i++) script.fund('deposit', 2_000 + i, UNIT);
  for (let i = 0; i < AGENTS_MAX; i++) {
    const end = i === 5_000 ? 3_000 : 9_000_000;
    assert.equal(authorise(2_000 + (i % wallets), 9_000 + i, end), accepted);
  }
  assert.equal(authorise(1, AGENT, 9_000_000), RejectReason.agentsFull);
  script.do('at 3');
  assert.equal(authorise(1, AGENT, 9_000_000), accepted);
  driver.settle();
  audit(script.t);
});

test('the end of a season pays no agent that never was a wallet', () => {
  const script = authorised().do(`buy #1 1 @ 0.50 by 1/${AGENT}`);
  script.revoke();
  for (let i = 0; i < AGENTS_OF_WALLET_MAX; i++) script.authorise({}, { agent: 910 + i });
  script.resolve([1, 0]);
  script.finish();
  script.endSeason(200 * UNIT, 3);
  assert.deepEqual([script.cash(1)[0], script.cash(AGENT)[0]], [200 * UNIT, 0]);
  script.compare();
});

/** Orders of one agent at random, over days, with fees, delays, failures, replacements and kills. */
function attack(random: Random): bigint {
  const cash = 50 * UNIT;
  const script = authorised({ cash });
  const { driver } = script.duel;
  const paid = new Map<number, bigint>();
  const orders = new Set<number>();
  const open: number[] = [];
  let time = 2_000;
  let id = 1;
  const count = (fill: FillLine): void => {
    const takerBuys = fill.takerSide === 'BUY';
    const makerBuys = fill.kind === 'fills' ? !takerBuys : takerBuys;
    const fee = fill.isScheduled ? BigInt(fill.fee) : 0n;
    const day = Math.floor(time / 86_400_000);
    const add = (amount: bigint): Map<number, bigint> =>
      paid.set(day, (paid.get(day) ?? 0n) + amount);
    if (takerBuys && orders.has(fill.taker)) add(BigInt(fill.takerCollateral) + fee);
    if (makerBuys && orders.has(fill.maker)) add(BigInt(fill.makerCollateral));
  };
  let fills = 0;
  const step = (line: string | OrderLine): number => {
    const reason = script.duel.step(typeof line === 'string' ? script.read(line) : line);
    for (; fills < script.duel.duel.naive.fills; fills++) count(driver.fillLine(fills));
    return reason;
  };
  const price = (): string => `0.${random.between(30, 70)}`;
  const size = (): number => random.pick([0.000001, 1, 7.77, 40, 99.999999, 100, 160]);
  for (let i = 0; i < 400; i++) {
    if (random.chance(12)) {
      const [near, far] = [random.between(1, 9_000), random.between(1, 200_000_000)];
      time += random.chance(70) ? near : far;
      step(`at ${time / 1_000}`);
    }
    if (random.chance(4)) step(`fees 1 ${random.pick(['0', '0.05', '0.07'])} 1`);
    if (random.chance(4)) step(`delay 1 ${random.pick([0, 0, 3, 9])}`);
    id += 1;
    if (random.chance(45)) {
      const outcome = random.pick(['Yes', 'No']);
      step(`${random.pick(['buy', 'sell'])} #${id} ${size()} @ ${price()} ${outcome} by 2`);
      continue;
    }
    if (open.length > 0 && random.chance(40)) step(`cancel #${random.pick(open)} by ${AGENT}`);
    const type = random.pick(['GTC', 'GTC', 'FOK', 'FAK']);
    const side = random.pick(['buy', 'buy', 'buy', 'sell']);
    const outcome = random.pick(['Yes', 'No']);
    const later = random.chance(20) ? ` fails ${random.between(1, 9_000)}` : '';
    orders.add(id);
    const line = `${side} #${id} ${size()} @ ${price()} ${outcome} by 1/${AGENT} ${type}${later}`;
    if (step(line) === accepted) open.push(id);
    if (i % 100 === 99) script.compare();
  }
  const crashed = new Tables(allocateEngine(WITH_LEDGER));
  script.compare();
  copyTables(script.t, crashed);
  rebuildIndexes(crashed);
  driver.close();
  const again = replay(driver.logged, WITH_LEDGER).t;
  assert.equal(stateHash(again), stateHash(script.t), 'from the log');
  audit(again);
  audit(crashed);
  const amounts = [...paid.values()];
  for (const amount of amounts) assert(amount <= BigInt(cash), `${amount} of ${cash} on a day`);
  return amounts.reduce((a, b) => (a > b ? a : b), 0n);
}

test('no sequence of orders, replacements, days, fees and failures spends more on a day than the cash', () => {
  withSeed((random) => {
    let most = 0n;
    // A rare case may need more draws than are usual.
    for (let i = 0; i < rounds(12) || (most < CLOSE && i < 100); i++) {
      const found = attack(random);
      if (found > most) most = found;
    }
    assert(most >= CLOSE, 'some day comes close to the cash');
  });
});
