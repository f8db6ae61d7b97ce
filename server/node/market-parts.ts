/**
 * Services shared by operations on markets, of operators and of a source that resolves markets. Thread: I/O.
 */
import type { MarketRow } from '../../engine/tables/units.ts';
import { eventOfCondition } from '../catalog/market-info.ts';
import { outcomeNames } from '../market-data/registered.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import type { NodeParts } from './node-parts.ts';

export function marketParts(
  parts: Pick<
    NodeParts,
    'catalog' | 'clock' | 'control' | 'edits' | 'infos' | 'repairs' | 'tables' | 'writer'
  >,
  ledger: LedgerCommands,
) {
  const { catalog, clock, control, edits, infos, repairs, tables, writer } = parts;
  return {
    t: tables,
    ledger,
    sequenceLock: writer.sequenceLock,
    now: clock.now,
    venue: edits,
    names: control.names,
    eventOf: (condition: string) => eventOfCondition(catalog.current.prepared, condition)?.id,
    namesOf: (market: MarketRow) => outcomeNames(tables, market, infos.find(market)),
    slugOf: (market: MarketRow) => infos.find(market)?.slug,
    unpublished: (condition: string): void => repairs.add([condition]),
  };
}
