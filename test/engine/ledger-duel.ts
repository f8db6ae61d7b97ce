/**
 * An exchange with a ledger: every command goes through the engine, and through the naive exchange
 * with the naive ledger. Outcomes, wallets, sums and statements of both must agree.
 */
import assert from 'node:assert/strict';
import {
  encodeAgent,
  encodeFunds,
  encodeHouse,
  encodeInvite,
  encodeRedeem,
  encodeRelay,
  encodeResolve,
  encodeResolveStep,
  encodeRevokeAgent,
  encodeRevokeInvites,
  encodeSeason,
  encodeSeasonStep,
  encodeWithdrawProposal,
  RelayKind,
  type RequestIdFields,
  type WalletLimits,
} from '../../engine/commands.ts';
import { Event, EventBuffer, EventKind, eventWords } from '../../engine/events.ts';
import { agentEntries, agentLeft, agentView, findAgent } from '../../engine/ledger/agents.ts';
import { findPosition } from '../../engine/ledger/positions.ts';
import {
  begunAtDeadline,
  cashReserved,
  cashTotal,
  ledgerTotals,
  marketCollateral,
  nextDeadline,
  nextResolving,
  positionsOf,
  positionToken,
  proposalOf,
  proposedMarkets,
  resolutionOf,
  sharesReserved,
  sharesTotal,
  venueShares,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { findLevel } from '../../engine/orders/source-rows.ts';
import { isMirroredToken, tokenBook } from '../../engine/reads.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { EntryCause, SIGNATURE_WORDS } from '../../engine/tables/codes.ts';
import { ACCOUNT_I, State } from '../../engine/tables/layout.ts';
import type { AccountRow, MarketRow, Pips, TokenRow } from '../../engine/tables/units.ts';
import { Duel } from './duel.ts';
import { addressWords, idWords, ROOMY } from './engine-driver.ts';
import type { AgentLine, NaiveAgent } from './naive-agents.ts';
import { type NaiveOrder, settlement } from './naive-book.ts';
import {
  type FundsLine,
  type HouseLine,
  type InviteLine,
  type InviteUseLine,
  NaiveLedger,
  type RelayLine,
  type RequestLine,
  type ResolveLine,
  type SeasonLine,
  type WithdrawLine,
} from './naive-ledger.ts';
import { NO_ID } from './naive-source.ts';
import type { Command, Outcome } from './naive-types.ts';

export interface StepLine {
  readonly kind: 'step';
  readonly market: number;
  readonly limit: number;
}

export interface SeasonStepLine {
  readonly kind: 'seasonStep';
  readonly limit: number;
}

export type LedgerCommand =
  | AgentLine
  | Command
  | FundsLine
  | HouseLine
  | InviteLine
  | InviteUseLine
  | RelayLine
  | ResolveLine
  | SeasonLine
  | SeasonStepLine
  | StepLine
  | WithdrawLine;

export const WITH_LEDGER: Capacities = { ...ROOMY, positions: 4_096, operatorIds: 1_024 };

interface Entry {
  readonly cause: number;
  readonly account: number;
  readonly market: number;
}

export class LedgerDuel {
  readonly duel: Duel;
  readonly ledger: NaiveLedger;
  readonly #cash = new Map<number, number>();
  readonly #shares = new Map<string, number>();
  /** Newest balance event by wallet and token, 0 = cash: total and reserved. */
  readonly #told = new Map<string, readonly number[]>();
  /** Orders that ended because another signer took over their wallet. */
  replaced = 0;
  #entries = 0;
  #read = 0;
  #now = 0;

  /** @param limits of wallets, in micro-units; without them there are none */
  constructor(capacities: Capacities = WITH_LEDGER, limits: Partial<WalletLimits> = {}) {
    this.duel = new Duel(capacities, new EventBuffer(2 ** 20));
    this.duel.driver.hasLedger = true;
    this.ledger = new NaiveLedger(this.duel.naive, capacities.operatorIds);
    const { exposurePerWallet = 0, openOrdersPerWallet = 0 } = limits;
    this.driver.exposurePerWallet = exposurePerWallet;
    this.ledger.exposurePerWallet = BigInt(exposurePerWallet);
    for (const each of [this.driver, this.duel.naive]) {
      each.openOrdersPerWallet = openOrdersPerWallet;
    }
    this.step({ kind: 'at', time: 1_000 });
    this.step({ kind: 'policy', policy: 'allow' });
    this.settle();
  }

  get driver() {
    return this.duel.driver;
  }

  step(command: LedgerCommand): RejectReasonCode {
    switch (command.kind) {
      case 'deposit':
      case 'withdraw':
      case 'split':
      case 'merge':
      case 'declare':
      case 'payFees':
      case 'payRebate':
      case 'drawFees':
        return this.#funds(command);
      case 'relay':
        return this.#relay(command);
      case 'invite':
        return this.#invite(command);
      case 'redeem':
      case 'revoke':
        return this.#useInvite(command);
      case 'resolve':
        return this.#resolve(command);
      case 'withdrawProposal':
        return this.#withdrawProposal(command);
      case 'step':
        return this.#step(command);
      case 'agent':
        return this.#agent(command);
      case 'house':
        return this.#house(command);
      case 'season':
        return this.#season(command);
      case 'seasonStep':
        return this.#seasonStep(command);
      default:
        return this.#exchange(command);
    }
  }

  settle(): void {
    this.#statement();
    this.driver.settle();
    this.#read = 0;
  }

  #exchange(command: Command): RejectReasonCode {
    if (command.kind === 'at') {
      this.#now = command.time;
      this.#statement();
    }
    const outcome: Outcome = this.duel.step(command);
    if (command.kind === 'at') this.#read = 0;
    if (command.kind === 'order' && outcome.reason === RejectReason.accepted) {
      this.ledger.accepted(command);
    }
    // A print moves no money.
    for (const fill of command.kind === 'print' ? [] : outcome.fills) {
      const market = this.duel.naive.marketOf(fill.takerToken)!;
      this.ledger.settle(fill, 1 + this.duel.naive.markets.indexOf(market));
      this.ledger.agents.settle(fill, this.#now);
    }
    this.#statement();
    return outcome.reason;
  }

  #funds(line: FundsLine): RejectReasonCode {
    const { amount, id, kind, market, signer, wallet } = line;
    const closed = this.driver.t.state[State.closed]!;
    const reason = this.driver.apply((out) =>
      encodeFunds(out, kind, {
        id: requestId(id),
        ...(kind === 'drawFees' ? {} : { wallet: addressWords(wallet) }),
        ...(signer === 0 ? {} : { signer: addressWords(signer) }),
        market: market as MarketRow | 0,
        amount,
      }),
    );
    if (reason !== RejectReason.tableFull) {
      const ended = new Set<number>();
      assert.equal(reason, this.ledger.funds(line, this.#now, ended), JSON.stringify(line));
      const found = this.driver.endedFrom(closed);
      assert.deepEqual(new Set(found.map(({ id }) => id)), ended, 'orders of a former signer');
      assert(found.every((end) => end.reason === 'canceled'));
      this.replaced += ended.size;
    }
    this.#statement();
    this.compareWallet(wallet);
    return reason;
  }

  #relay(line: RelayLine): RejectReasonCode {
    const { calls, off, wallet } = line;
    const reason = this.driver.apply((out) =>
      encodeRelay(out, {
        wallet: addressWords(wallet),
        owner: addressWords(wallet),
        signature: new Int32Array(SIGNATURE_WORDS),
        digest: idWords(wallet),
        nonce: this.ledger.nextNonce(wallet) + off,
        calls: calls.map(({ amount, kind, market }) => ({
          kind: RelayKind[kind],
          market: market as MarketRow | 0,
          amount,
        })),
      }),
    );
    if (reason !== RejectReason.tableFull)
      assert.equal(reason, this.ledger.relay(line), JSON.stringify(line));
    this.#statement();
    this.compareWallet(wallet);
    return reason;
  }

  #invite(line: InviteLine): RejectReasonCode {
    const reason = this.driver.apply((out) =>
      encodeInvite(out, {
        digests: line.codes.map(idWords),
        cash: line.cash,
        note: Buffer.from('a note'),
      }),
    );
    assert.equal(reason, this.ledger.invite(line), JSON.stringify(line));
    return reason;
  }

  #useInvite(line: InviteUseLine): RejectReasonCode {
    const { code, kind, wallet } = line;
    const reason = this.driver.apply((out) =>
      kind === 'redeem'
        ? encodeRedeem(out, idWords(code), addressWords(wallet))
        : encodeRevokeInvites(out, [idWords(code)]),
    );
    assert.equal(reason, this.ledger.useInvite(line), JSON.stringify(line));
    this.#statement();
    this.compareWallet(wallet);
    return reason;
  }

  #resolve(line: ResolveLine): RejectReasonCode {
    const { group, id, isVoid, market, review, weights } = line;
    const reason = this.driver.apply((out) =>
      encodeResolve(out, {
        id: requestId(id),
        market: market as MarketRow | 0,
        weights,
        isVoid,
        review,
        ...(group === 0 ? {} : { group: idWords(group) }),
      }),
    );
    assert.equal(reason, this.ledger.resolve(line, this.#now), JSON.stringify(line));
    return reason;
  }

  #withdrawProposal(line: WithdrawLine): RejectReasonCode {
    const { id, market } = line;
    const reason = this.driver.apply((out) =>
      encodeWithdrawProposal(out, { id: requestId(id), market: market as MarketRow | 0 }),
    );
    assert.equal(reason, this.ledger.withdrawProposal(line, this.#now), JSON.stringify(line));
    return reason;
  }

  /**
   * Applies a step of the engine, and checks that it ended and paid exactly the right orders and
   * wallets.
   */
  #step({ limit, market }: StepLine): RejectReasonCode {
    const { ledger } = this;
    const { naive } = this.duel;
    const closed = this.driver.t.state[State.closed]!;
    const its = naive.markets[market - 1];
    const open = its?.open.length ?? 0;
    const levels = this.driver.t.state[State.sourceLevels]!;
    const isPending = ledger.resolutions.has(market) && !ledger.done.has(market);
    const reason = this.driver.apply((out) => encodeResolveStep(out, market as MarketRow, limit));
    const isKnown = ledger.resolutions.has(market);
    assert.equal(reason, isKnown ? RejectReason.accepted : RejectReason.marketUnknown);
    const ended = new Set(this.driver.endedFrom(closed).map(({ id }) => id));
    const paid = new Set(this.#statement().map(({ account }) => account));
    const levelsEnded = levels - this.driver.t.state[State.sourceLevels]!;
    const done = ended.size + levelsEnded;
    assert.equal(done, isPending ? Math.min(open, limit) : 0, 'orders that end in a step');
    if (levelsEnded > 0) {
      its!.open = its!.open.filter((order) => this.#stillStands(order));
      its!.touchAll(this.#now);
    }
    assert.equal(naive.endResolved(ended, settlement()), ended.size, 'of those that were open');
    const holders = isPending && open === 0 ? ledger.holders(market) : new Set<number>();
    assert.equal(paid.size, Math.min(holders.size, limit), 'wallets that are paid in a step');
    for (const wallet of paid) {
      assert(holders.has(wallet), 'who is paid has shares');
      ledger.redeem(wallet, market);
      this.compareWallet(wallet);
    }
    if (isPending && open === 0 && holders.size === 0) ledger.finish(market);
    const resolution = isKnown ? resolutionOf(this.driver.t, market as MarketRow) : undefined;
    assert.equal(resolution?.isDone ?? false, ledger.done.has(market), 'the end of a resolution');
    return reason;
  }

  #agent(line: AgentLine): RejectReasonCode {
    const { isDerived, terms } = line;
    const closed = this.driver.t.state[State.closed]!;
    const fields = {
      wallet: addressWords(line.wallet),
      agent: addressWords(line.agent),
      owner: addressWords(line.owner),
      isDerived,
    };
    const reason = this.driver.apply((out) =>
      terms === undefined
        ? encodeRevokeAgent(out, fields)
        : encodeAgent(out, fields, { ...terms, markets: terms.markets as readonly MarketRow[] }),
    );
    if (reason === RejectReason.tableFull) return reason;
    const ended: NaiveAgent[] = [];
    assert.equal(reason, this.ledger.agents.run(line, this.#now, ended), JSON.stringify(line));
    const ids = new Set(this.duel.naive.endAgents(ended));
    const found = this.driver.endedFrom(closed);
    assert.deepEqual(new Set(found.map(({ id }) => id)), ids, 'orders of an agent that ends');
    assert(found.every((end) => end.reason === 'canceled'));
    this.#statement();
    return reason;
  }

  #compareAgents(): void {
    const { t } = this.driver;
    const agents = this.ledger.agents.all();
    assert.equal(agentEntries(t).length, 4 * agents.length, 'agents are counted');
    for (const agent of agents) {
      const wallet = findAccount(t, addressWords(agent.wallet), 0);
      const row = findAgent(t, wallet, addressWords(agent.agent), 0);
      assert(row !== 0, `agent ${agent.agent} of ${agent.wallet}`);
      const { agents: naive } = this.ledger;
      const { openOrders, reserved } = agentView(t, row, this.#now);
      const found = [agentLeft(t, row, this.#now), reserved].map(BigInt);
      const expected = [naive.left(agent, this.#now), naive.reserved(agent)];
      assert.deepEqual(found, expected, `what ${agent.agent} may spend of ${agent.wallet}`);
      assert.equal(openOrders, naive.openOrders(agent));
    }
  }

  #house(line: HouseLine): RejectReasonCode {
    const reason = this.driver.apply((out) => encodeHouse(out, addressWords(line.wallet)));
    assert.equal(reason, this.ledger.house(line), JSON.stringify(line));
    return reason;
  }

  #season(line: SeasonLine): RejectReasonCode {
    const { amount: startSum, id } = line;
    const reason = this.driver.apply((out) => encodeSeason(out, { id: requestId(id), startSum }));
    assert.equal(reason, this.ledger.season(line, this.#now), JSON.stringify(line));
    this.#statement();
    return reason;
  }

  /** Applies a step of the engine, and checks that it reset wallets that were due, and that the last one left none. */
  #seasonStep({ limit }: SeasonStepLine): RejectReasonCode {
    const { ledger } = this;
    const { t } = this.driver;
    const reason = this.driver.apply((out) => encodeSeasonStep(out, limit));
    const reset = this.#statement().map(({ account }) => account);
    assert(reset.length <= limit, 'wallets that are reset in a step');
    for (const wallet of reset) {
      assert(ledger.unreset().includes(wallet), 'a wallet is reset once');
      ledger.reset(wallet);
      this.compareWallet(wallet);
    }
    if (ledger.ending !== undefined && !seasonIsEnding(t)) {
      assert.deepEqual(ledger.unreset(), [], 'every wallet is reset');
      ledger.ending = undefined;
    }
    assert.equal(seasonIsEnding(t), ledger.ending !== undefined);
    return reason;
  }

  /** Returns true for a level that a step has not ended; the engine reports those that it ended. */
  #stillStands({ line, price }: NaiveOrder): boolean {
    if (line.id !== NO_ID) return true;
    const { t } = this.driver;
    const token = line.token as TokenRow;
    const isMirrored = isMirroredToken(t, token);
    const pips = (isMirrored ? 10_000 - price : price) as Pips;
    return findLevel(t, tokenBook(t, token), isMirrored ? 1 : 0, pips) !== 0;
  }

  /** Reads new entries, and checks each against the running sums. */
  #statement(): Entry[] {
    const { f64, i32, overflowed, words } = this.driver.engine.context.events;
    assert(!overflowed, 'the log of a batch is whole');
    const entries: Entry[] = [];
    while (this.#read < words) {
      const at = this.#read;
      this.#read += eventWords(i32, at);
      const isEntry = i32[at] === EventKind.entry;
      if (!isEntry && i32[at] !== EventKind.reserved) continue;
      const token = i32[at + Event.token]!;
      const d = at / 2;
      if (isEntry && i32[at + Event.account] === 0) {
        assert.equal(f64[d + Event.entry], this.#entries, 'entries have no gap');
        this.#entries += 1;
        const fees = [token, BigInt(f64[d + Event.cashAfter]!)];
        assert.deepEqual(fees, [0, this.ledger.fees], 'an entry of the venue has its fees');
        continue;
      }
      const account = this.#address(i32[at + Event.account]! as AccountRow);
      const tell = (of: number, total: number, reserved: number) =>
        this.#told.set(`${account}/${of}`, [f64[d + total]!, f64[d + reserved]!]);
      if (!isEntry) {
        tell(token, Event.total, Event.reserved);
        continue;
      }
      tell(0, Event.cashAfter, Event.cashReserved);
      if (token !== 0) tell(token, Event.sharesAfter, Event.sharesReserved);
      assert.equal(f64[d + Event.entry], this.#entries, 'entries have no gap');
      this.#entries += 1;
      const cash = (this.#cash.get(account) ?? 0) + f64[d + Event.cash]!;
      assert.equal(f64[d + Event.cashAfter], cash, 'an entry has the running balance');
      this.#cash.set(account, cash);
      const key = `${account}/${token}`;
      const shares = (this.#shares.get(key) ?? 0) + f64[d + Event.shares]!;
      assert.equal(f64[d + Event.sharesAfter], shares, 'an entry has the running shares');
      this.#shares.set(key, shares);
      const cause = i32[at + Event.cause]!;
      const { redeem, season } = EntryCause;
      if (cause === redeem || cause === season) entries.push({ cause, account, market: 0 });
    }
    return entries;
  }

  #address(account: AccountRow): number {
    return this.driver.t.accountI[(account << ACCOUNT_I) + 4]!;
  }

  compareWallet(wallet: number): void {
    const { ledger } = this;
    const { t } = this.driver;
    const account = findAccount(t, addressWords(wallet), 0);
    const cash = [cashTotal(t, account), cashReserved(t, account)];
    const expected = [ledger.cashOf(wallet), ledger.reservedCash(wallet)];
    assert.deepEqual(cash.map(BigInt), expected, `cash of ${wallet}: total, reserved`);
    if (ledger.exposurePerWallet !== 0n)
      assert.equal(BigInt(t.walletCosts[account]!), ledger.costOf(wallet), `costs of ${wallet}`);
    assert.equal(this.#cash.get(wallet) ?? 0, cash[0], `the statement of ${wallet}`);
    assert.deepEqual(this.#told.get(`${wallet}/0`) ?? [0, 0], cash, `the events of ${wallet}`);
  }

  compareAll(): void {
    this.#statement();
    this.duel.compareAll();
    this.#read = 0;
    const { duel, ledger } = this;
    const { t } = this.driver;
    let positions = 0;
    for (let row = 1 as AccountRow; row <= t.state[State.accounts]!; row++) {
      const wallet = this.#address(row);
      this.compareWallet(wallet);
      for (const position of positionsOf(t, row)) {
        const token = positionToken(t, position);
        assert.equal(findPosition(t, row, token), position);
        const found = [sharesTotal(t, position), sharesReserved(t, position)].map(BigInt);
        const expected = [ledger.sharesOf(wallet, token), ledger.reservedShares(wallet, token)];
        assert.deepEqual(found, expected, `shares of ${wallet} in ${token}: total, reserved`);
        assert.equal(BigInt(this.#shares.get(`${wallet}/${token}`) ?? 0), found[0]);
        const told = this.#told.get(`${wallet}/${token}`) ?? [0, 0];
        assert.deepEqual(told.map(BigInt), found, `the events of ${wallet} in ${token}`);
        if (found[0]! > 0n) positions += 1;
      }
    }
    assert.equal(positions, [...ledger.shares.values()].filter((each) => each !== 0n).length);
    duel.naive.markets.forEach(({ firstToken, outcomes }, i) => {
      const collateral = marketCollateral(t, (i + 1) as MarketRow);
      assert.equal(BigInt(collateral), ledger.collateral.get(i + 1) ?? 0n, `market ${i + 1}`);
      for (let token = firstToken as TokenRow; token < firstToken + outcomes; token++) {
        assert.equal(BigInt(venueShares(t, token)), ledger.venue.get(token) ?? 0n);
      }
    });
    const { deposited, entries, fees, imbalance, resolving, rounding } = ledgerTotals(t);
    assert.deepEqual([deposited, fees, rounding].map(BigInt), [
      ledger.deposited,
      ledger.fees,
      ledger.rounding,
    ]);
    assert.equal(imbalance, 0);
    assert.equal(entries, this.#entries);
    assert.equal(resolving, ledger.resolutions.size - ledger.done.size);
    assert.equal(nextResolving(t) !== 0, resolving > 0);
    this.#compareProposals();
    this.#compareAgents();
  }

  #compareProposals(): void {
    const { begunAtDeadline: begun, proposals } = this.ledger;
    const { t } = this.driver;
    assert.equal(ledgerTotals(t).proposals, proposals.size);
    assert.deepEqual(new Set(proposedMarkets(t)), new Set(proposals.keys()));
    for (const [market, { deadline, line }] of proposals) {
      const found = proposalOf(t, market as MarketRow)!;
      const { isVoid, weights } = found;
      assert.deepEqual([weights, isVoid], [line.weights, line.isVoid], `proposal of ${market}`);
      assert.equal(found.deadline, deadline);
    }
    const deadlines = [...proposals.values()].map(({ deadline }) => deadline);
    assert.equal(nextDeadline(t), deadlines.length === 0 ? 0 : Math.min(...deadlines));
    assert.equal(begunAtDeadline(t), begun);
  }
}

function requestId({ isOperator, isText, key, ms }: RequestLine): RequestIdFields {
  return { isOperator, ms: isText ? undefined : ms, key: Int32Array.of(key, ~key, 7, 9) };
}
