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
import { type MarketRow, MICRO, type TokenRow } from '../../engine/tables/units.ts';
import type { Log } from '../common/logger.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import type { LedgerCommands } from '../ledger/ledger-commands.ts';
import { operatorRequestId } from '../ledger/request-id.ts';
import { marketByCondition } from '../market-data/find.ts';
import { REJECT_TEXTS } from '../orders/reject-texts.ts';
import type { Failure } from '../orders/slot-requests.ts';
import { MarketMirror, type MarketMirrorParts } from './market-mirror.ts';
import type { MirroredVenue } from './mirror.ts';
import type { SourceMarket } from './source-api.ts';

export interface NodeVenueParts
  extends Pick<MarketMirrorParts, 'impact' | 'queue' | 'whenBatchesDone'> {
  readonly tables: Tables;
  /** First tokens of markets whose trades are inferred, because their source does not say them. */
  readonly inferred?: ReadonlySet<string>;
  /** Runs commands of a source as one batch. */
  readonly source: (commands: CommandBuffer) => Promise<readonly RejectReasonCode[] | Failure>;
  readonly pull: () => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A node that takes nothing for the moment is asked again after so long. */
const BUSY_MS = 20;

export class NodeVenue implements MirroredVenue {
  private readonly o: NodeVenueParts;
  private readonly mirrors = new Map<MarketRow, MarketMirror>();
  private readonly refused = new Set<RejectReasonCode>();

  constructor(parts: NodeVenueParts) {
    this.o = parts;
  }

  isTradable(market: SourceMarket): boolean {
    const { tables: t } = this.o;
    const row = this.rowOf(market.condition);
    if (row === 0 || this.hasEnded(market) || marketTokens(t, row) !== market.tokens.length)
      return false;
    const first = marketFirstToken(t, row);
    return market.tokens.every(
      (id, outcome) => wordsToDecimal(t.tokenI, tokenIdAt((first + outcome) as TokenRow)) === id,
    );
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
    const tokenId = wordsToDecimal(tables.tokenI, tokenIdAt(first));
    const parts: MarketMirrorParts = {
      ...this.o,
      tokenId,
      infersTrades: inferred?.has(tokenId) === true,
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
