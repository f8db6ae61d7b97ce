/**
 * The record that begins an epoch: the configuration of the node that leads from then on. It is made without the
 * tables of the node, because it is not certain that it will be committed; then it comes as a record of anybody.
 *
 * Pure.
 */
import {
  CommandBuffer,
  commandWords,
  encodeConfigure,
  encodeWalletLimits,
  type WalletLimits,
} from '../../engine/commands.ts';
import {
  closedCount,
  engineSettings,
  engineTime,
  fillCount,
  lastBatch,
  stateDigest,
} from '../../engine/reads.ts';
import { scratchEngine } from '../../engine/scratch.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  addControlRecord,
  type HandoverRecord,
} from '../../storage/control-records/control-records.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import type { LogEntry } from '../../storage/log/log.ts';

export interface EpochSettings extends WalletLimits {
  readonly selfTrade: number;
  readonly openOrdersPerAccount: number;
  readonly walletsPerSigner: number;
  /** Used by the first record of the log only. */
  readonly ledger: boolean;
}

/**
 * Returns the record after the newest one of these tables, which must not change meanwhile.
 * @param handover of the lead before, where it was handed over
 */
export function epochRecord(
  tables: Tables,
  settings: EpochSettings,
  handover?: HandoverRecord,
): LogEntry {
  const scratch = scratchEngine(tables);
  const now = engineSettings(tables);
  const isFirst = lastBatch(tables) === 0;
  const out = new CommandBuffer(16);
  encodeConfigure(
    out,
    settings.selfTrade,
    // The sizes are those of the first leader: a later one with larger tables shall not be the only one that fits.
    isFirst ? tables.capacities.history : now.history,
    settings.openOrdersPerAccount,
    isFirst ? tables.orderRows : now.orderRowsMax,
    settings.walletsPerSigner,
    isFirst ? settings.ledger : now.ledger,
  );
  encodeWalletLimits(out, now, settings);
  if (handover !== undefined) addControlRecord(out, { about: 'handover', handover });
  const time = engineTime(tables);
  scratch.begin(time, 0);
  for (let at = 0; at < out.words; at += commandWords(out.i32, at)) {
    scratch.apply(out.i32, out.f64, at);
  }
  scratch.end();
  const fills = fillCount(tables);
  const facts = {
    sequence: lastBatch(scratch.t),
    time,
    persistedClosedSequence: 0,
    firstFill: fills,
    endFill: fills,
    closedEnd: closedCount(tables),
    digest: stateDigest(scratch.t),
  };
  return {
    sequence: facts.sequence,
    time,
    before: stateDigest(tables),
    after: facts.digest,
    payload: encodeBatch(facts, out.i32.subarray(0, out.words)),
  };
}
