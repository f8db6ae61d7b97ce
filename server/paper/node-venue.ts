/**
 * What the mirror does to the node: reads its markets, sends what a source did, pays the reserved account in.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandBuffer } from '../../engine/commands.ts';
import {
  cashTotal,
  marketCollateral,
  positionsOf,
  proposalOf,
  resolutionOf,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import {
  conditionAt,
  isMirroredToken,
  marketCount,
  marketFirstToken,
  marketFlags,
  marketTokens,
  tokenIdAt,
} from '../../engine/reads.ts';
import { ID_WORDS, MarketFlag, SOURCE_ADDRESS } from '../../engine/tables/codes.ts';
import { Depth, readDepth } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type MarketRow, MICRO } from '../../engine/tables/units.ts';
import {
  type Contradiction,
  type ContradictionReason,
  describeContradictions,
  placesOf,
  type RegisteredMarkets,
} from '../../storage/catalog/registered-markets.ts';
import { type Contradictions, contradictionsOf } from '../common/contradictions.ts';
import type { Log } from '../common/logger.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import type { LedgerCommands } from '../ledger/ledger-commands.ts';
import { operatorRequestId } from '../ledger/request-id.ts';
import { marketByCondition, tokensOfMarket } from '../market-data/find.ts';
import { registeredMarkets } from '../market-data/registered.ts';
import { REJECT_TEXTS } from '../orders/reject-texts.ts';
import type { Failure } from '../orders/slot-requests.ts';
import { MarketMirror, type MarketMirrorParts } from './market-mirror.ts';
import type { MirroredVenue } from './mirror.ts';
import { reordered, type SourceMarket } from './source-api.ts';

export interface NodeVenueParts
  extends Pick<MarketMirrorParts, 'impact' | 'queue' | 'whenBatchesDone'> {
  readonly tables: Tables;
  /** First tokens of markets whose trades are inferred, because their source does not say them. */
  readonly inferred?: ReadonlySet<string>;
  /** Runs commands of a source as one batch. */
  readonly source: (commands: CommandBuffer) => Promise<readonly RejectReasonCode[] | Failure>;
  readonly pull: () => void;
  /** Names of the outcomes in the order of the engine; undefined = the catalog does not say them. */
  readonly namesOf: (market: MarketRow) => readonly string[] | undefined;
  /** In lines of the log. */
  readonly name: 'mirror' | 'play';
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A node that takes nothing for the moment is asked again after so long. */
const BUSY_MS = 20;
/** Markets that are kept in mind; a source may name any number. */
const CONTRADICTIONS_MAX = 10_000;

export class NodeVenue implements MirroredVenue {
  private readonly o: NodeVenueParts;
  private readonly mirrors = new Map<MarketRow, MarketMirror>();
  private readonly refused = new Set<RejectReasonCode>();
  private readonly registered: RegisteredMarkets;
  private readonly contradicting = new Map<string, Contradiction>();

  constructor(parts: NodeVenueParts) {
    this.o = parts;
    this.registered = registeredMarkets(parts.tables);
  }

  /**
   * The market with its outcomes in the order of the engine; undefined where it contradicts what is registered. One
   * that is not registered is as the source names it.
   */
  aligned(market: SourceMarket): SourceMarket | undefined {
    const found = this.read(market);
    if (typeof found !== 'string') {
      this.contradicting.delete(market.condition);
      return found;
    }
    const { condition: conditionId, id } = market;
    const { contradicting, o } = this;
    const isKnown = contradicting.get(conditionId)?.reason === found;
    if (isKnown || contradicting.size >= CONTRADICTIONS_MAX) return undefined;
    const contradiction = { id, conditionId, reason: found };
    contradicting.set(conditionId, contradiction);
    const [line] = describeContradictions([contradiction]);
    o.log('warn', `${o.name}: ${line}: it is left alone`);
    return undefined;
  }

  /** Markets of the source that it has named otherwise than they are registered, when they were last seen. */
  contradictions(): Contradictions {
    return contradictionsOf([...this.contradicting.values()]);
  }

  private read(market: SourceMarket): SourceMarket | ContradictionReason {
    const { condition, negRisk, outcomes, tokens } = market;
    const registered = this.registered.find(condition);
    if (registered === undefined) {
      const isOfOther = tokens.some((id) => this.registered.ownerOf(id) !== undefined);
      return isOfOther ? 'condition' : market;
    }
    const names = this.o.namesOf(this.rowOf(condition) as MarketRow);
    const places = placesOf({ tokenIds: tokens, names: outcomes, negRisk }, registered, names);
    return typeof places === 'string' ? places : reordered(market, places);
  }

  isTradable(market: SourceMarket): boolean {
    const row = this.rowOf(market.condition);
    return row !== 0 && !this.hasEnded(market) && marketTokens(this.o.tables, row) === 2;
  }

  hasEnded({ condition }: Pick<SourceMarket, 'condition'>): boolean {
    const row = this.rowOf(condition);
    return row !== 0 && this.isEnded(row);
  }

  apply: MirroredVenue['apply'] = ({ condition }, steps) => {
    const row = this.rowOf(condition) as MarketRow;
    return this.mirrorOf(row).apply(steps);
  };

  pull(): void {
    this.o.pull();
  }

  isSettled(condition: string): boolean {
    const row = this.rowOf(condition);
    return row === 0 || resolutionOf(this.o.tables, row) !== undefined;
  }

  isProposed(condition: string): boolean {
    const row = this.rowOf(condition);
    return row !== 0 && proposalOf(this.o.tables, row) !== undefined;
  }

  /** Condition ids of markets that have ended, have not resolved, and have shares that somebody holds. */
  unsettled(): string[] {
    const { tables: t } = this.o;
    return this.conditionsOf(
      (row) =>
        this.isEnded(row) && resolutionOf(t, row) === undefined && marketCollateral(t, row) > 0,
    );
  }

  /** Condition ids of open markets that somebody has shares or, while no levels stand, orders of. */
  traded(): string[] {
    const { tables: t } = this.o;
    const depth = new Depth();
    const hasOrders = (row: MarketRow): boolean =>
      // What is written at the moment is traded.
      !readDepth(t, marketFirstToken(t, row), depth) || depth.bids.count + depth.asks.count > 0;
    return this.conditionsOf(
      (row) => !this.isEnded(row) && (marketCollateral(t, row) > 0 || hasOrders(row)),
    );
  }

  /** Removes the levels that an earlier run has left: they are as old as that. */
  async clear(): Promise<void> {
    const { tables: t } = this.o;
    for (const row of this.rows()) {
      const first = marketFirstToken(t, row);
      if (marketTokens(t, row) !== 2 || isMirroredToken(t, first)) continue;
      await this.mirrorOf(row).clear();
    }
  }

  /** Pays the reserved account in, once: levels are paid with it. */
  async fund(ledger: Pick<LedgerCommands, 'funds'>, units: number, now: number): Promise<void> {
    const { tables: t } = this.o;
    const account = findAccount(t, SOURCE_ADDRESS, 0);
    if (cashTotal(t, account) > 0 || positionsOf(t, account).length > 0) return;
    const id = operatorRequestId(`${now}-mirror-funds`)!;
    const fields = { id, wallet: SOURCE_ADDRESS, amount: units * MICRO };
    const outcome = await ledger.funds('deposit', fields);
    if (outcome.kind === 'done') return;
    const why = outcome.kind === 'refused' ? outcome.text : outcome.body;
    throw new Error(`MIRROR_FUNDS could not be paid in: ${why}`);
  }

  private conditionsOf(isMeant: (row: MarketRow) => boolean): string[] {
    const { marketI } = this.o.tables;
    return this.rows()
      .filter(isMeant)
      .map((row) => wordsToHex(marketI, conditionAt(row), ID_WORDS));
  }

  private *allRows(): Iterable<MarketRow> {
    for (let row = 1; row <= marketCount(this.o.tables); row++) yield row as MarketRow;
  }

  private rows(): MarketRow[] {
    return [...this.allRows()];
  }

  private rowOf(condition: string): MarketRow | 0 {
    return marketByCondition(this.o.tables, condition);
  }

  private isEnded(row: MarketRow): boolean {
    return (marketFlags(this.o.tables, row) & MarketFlag.ended) !== 0;
  }

  private mirrorOf(row: MarketRow): MarketMirror {
    const known = this.mirrors.get(row);
    if (known !== undefined) return known;
    const { inferred, tables } = this.o;
    const first = marketFirstToken(tables, row);
    const [tokenId = '', ...others] = tokensOfMarket(tables, row).map((token) =>
      wordsToDecimal(tables.tokenI, tokenIdAt(token)),
    );
    const parts: MarketMirrorParts = {
      ...this.o,
      tokenId,
      // The source may name another one first.
      infersTrades: [tokenId, ...others].some((id) => inferred?.has(id)),
      send: (commands) => this.send(commands),
      onRefused: (reason) => this.tell(reason),
    };
    const mirror = new MarketMirror(parts, first);
    this.mirrors.set(row, mirror);
    return mirror;
  }

  private async send(commands: CommandBuffer): Promise<readonly RejectReasonCode[]> {
    for (;;) {
      const outcome = await this.o.source(commands);
      if (typeof outcome !== 'string') return outcome;
      // While the venue is paused nothing is taken; the log has failed where it never will be.
      await sleep(BUSY_MS, undefined, { signal: this.o.signal });
    }
  }

  private tell(reason: RejectReasonCode): void {
    if (this.refused.has(reason) || reason === RejectReason.accepted) return;
    this.refused.add(reason);
    const advice = reason === RejectReason.notEnough ? '; MIRROR_FUNDS is too small' : '';
    this.o.log('warn', `mirror: a level was refused: ${REJECT_TEXTS[reason]}${advice}`);
  }
}
