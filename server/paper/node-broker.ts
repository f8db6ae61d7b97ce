/**
 * Port of mirror and player to the node: reads its markets, sends the commands of a source, funds the reserved
 * account.
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
import { REJECTS } from '../common/refusals.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import { marketByCondition, tokensOfMarket } from '../market-data/find.ts';
import { registeredMarkets } from '../market-data/registered.ts';
import type { Failure } from '../orders/exchange-memory/slot-requests.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import { operatorRequestId } from '../wallet/request-id.ts';
import type { MirrorTarget } from './book-mirror.ts';
import { MarketMirror, type MarketMirrorParts } from './market-mirror.ts';
import { reordered, type SourceMarket } from './source-api.ts';

export interface NodeBrokerParts
  extends Pick<MarketMirrorParts, 'impact' | 'queue' | 'whenBatchesDone'> {
  readonly tables: Tables;
  readonly inferred?: ReadonlySet<string>;
  readonly source: (commands: CommandBuffer) => Promise<readonly RejectReasonCode[] | Failure>;
  readonly pull: () => void;
  /** Names of the outcomes in the order of the engine; undefined if absent from the catalog. */
  readonly namesOf: (market: MarketRow) => readonly string[] | undefined;
  readonly name: 'mirror' | 'play';
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Pause before commands are sent again to a busy node. */
const BUSY_MS = 20;
/** Bound of retained contradictions; a source may name any number of markets. */
const CONTRADICTIONS_MAX = 10_000;

export class NodeBroker implements MirrorTarget {
  private readonly parts: NodeBrokerParts;
  private readonly mirrors = new Map<MarketRow, MarketMirror>();
  private readonly refused = new Set<RejectReasonCode>();
  private readonly registered: RegisteredMarkets;
  private readonly contradicting = new Map<string, Contradiction>();

  constructor(parts: NodeBrokerParts) {
    this.parts = parts;
    this.registered = registeredMarkets(parts.tables);
  }

  aligned(market: SourceMarket): SourceMarket | undefined {
    const found = this.read(market);
    if (typeof found !== 'string') {
      this.contradicting.delete(market.condition);
      return found;
    }
    const { condition: conditionId, id } = market;
    const { contradicting, parts } = this;
    const isKnown = contradicting.get(conditionId)?.reason === found;
    if (isKnown || contradicting.size >= CONTRADICTIONS_MAX) return undefined;
    const contradiction = { id, conditionId, reason: found };
    contradicting.set(conditionId, contradiction);
    const [line] = describeContradictions([contradiction]);
    parts.log('warn', `${parts.name}: ${line}: it is left alone`);
    return undefined;
  }

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
    const names = this.parts.namesOf(this.rowOf(condition) as MarketRow);
    const places = placesOf({ tokenIds: tokens, names: outcomes, negRisk }, registered, names);
    return typeof places === 'string' ? places : reordered(market, places);
  }

  isTradable(market: SourceMarket): boolean {
    const row = this.rowOf(market.condition);
    return row !== 0 && !this.hasEnded(market) && marketTokens(this.parts.tables, row) === 2;
  }

  hasEnded({ condition }: Pick<SourceMarket, 'condition'>): boolean {
    const row = this.rowOf(condition);
    return row !== 0 && this.isEnded(row);
  }

  apply: MirrorTarget['apply'] = ({ condition }, steps) => {
    const row = this.rowOf(condition) as MarketRow;
    return this.mirrorOf(row).apply(steps);
  };

  pull(): void {
    this.parts.pull();
  }

  isSettled(condition: string): boolean {
    const row = this.rowOf(condition);
    return row === 0 || resolutionOf(this.parts.tables, row) !== undefined;
  }

  isProposed(condition: string): boolean {
    const row = this.rowOf(condition);
    return row !== 0 && proposalOf(this.parts.tables, row) !== undefined;
  }

  /** Condition ids of unresolved ended markets with collateral. */
  unsettled(): string[] {
    const { tables } = this.parts;
    return this.conditionsOf(
      (row) =>
        this.isEnded(row) &&
        resolutionOf(tables, row) === undefined &&
        marketCollateral(tables, row) > 0,
    );
  }

  /** Condition ids of open markets with collateral or, while no source levels stand, with orders. */
  traded(): string[] {
    const { tables } = this.parts;
    const depth = new Depth();
    const hasOrders = (row: MarketRow): boolean =>
      // A book that a worker is changing counts as traded.
      !readDepth(tables, marketFirstToken(tables, row), depth) ||
      depth.bids.count + depth.asks.count > 0;
    return this.conditionsOf(
      (row) => !this.isEnded(row) && (marketCollateral(tables, row) > 0 || hasOrders(row)),
    );
  }

  /** Removes source levels of an earlier run. */
  async clear(): Promise<void> {
    const { tables } = this.parts;
    for (const row of this.rows()) {
      const first = marketFirstToken(tables, row);
      if (marketTokens(tables, row) !== 2 || isMirroredToken(tables, first)) continue;
      await this.mirrorOf(row).clear();
    }
  }

  /** Funds the reserved account once. Source levels are paid with it. */
  async fund(ledger: Pick<LedgerCommands, 'funds'>, units: number, now: number): Promise<void> {
    const { tables } = this.parts;
    const account = findAccount(tables, SOURCE_ADDRESS, 0);
    if (cashTotal(tables, account) > 0 || positionsOf(tables, account).length > 0) return;
    const id = operatorRequestId(`${now}-mirror-funds`)!;
    const fields = { id, wallet: SOURCE_ADDRESS, amount: units * MICRO };
    const outcome = await ledger.funds('deposit', fields);
    if (outcome.kind === 'done') return;
    const why = outcome.kind === 'refused' ? outcome.text : outcome.body;
    throw new Error(`MIRROR_FUNDS could not be paid in: ${why}`);
  }

  private conditionsOf(isMeant: (row: MarketRow) => boolean): string[] {
    const { marketI } = this.parts.tables;
    return this.rows()
      .filter(isMeant)
      .map((row) => wordsToHex(marketI, conditionAt(row), ID_WORDS));
  }

  private *allRows(): Iterable<MarketRow> {
    for (let row = 1; row <= marketCount(this.parts.tables); row++) yield row as MarketRow;
  }

  private rows(): MarketRow[] {
    return [...this.allRows()];
  }

  private rowOf(condition: string): MarketRow | 0 {
    return marketByCondition(this.parts.tables, condition);
  }

  private isEnded(row: MarketRow): boolean {
    return (marketFlags(this.parts.tables, row) & MarketFlag.ended) !== 0;
  }

  private mirrorOf(row: MarketRow): MarketMirror {
    const known = this.mirrors.get(row);
    if (known !== undefined) return known;
    const { inferred, tables } = this.parts;
    const first = marketFirstToken(tables, row);
    const [tokenId = '', ...others] = tokensOfMarket(tables, row).map((token) =>
      wordsToDecimal(tables.tokenI, tokenIdAt(token)),
    );
    const parts: MarketMirrorParts = {
      ...this.parts,
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
      const outcome = await this.parts.source(commands);
      if (typeof outcome !== 'string') return outcome;
      // The node is paused or busy. After a failure of the log only the signal ends this.
      await sleep(BUSY_MS, undefined, { signal: this.parts.signal });
    }
  }

  private tell(reason: RejectReasonCode): void {
    if (this.refused.has(reason) || reason === RejectReason.accepted) return;
    this.refused.add(reason);
    const advice = reason === RejectReason.notEnough ? '; MIRROR_FUNDS is too small' : '';
    this.parts.log('warn', `mirror: a level was refused: ${REJECTS[reason].text}${advice}`);
  }
}
