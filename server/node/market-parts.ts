/** Parts that operations on markets share: those of operators, and those of a source that decides. */
import type { MarketRow } from '../../engine/tables/units.ts';
import { marketLifecycleLookup } from '../catalog/market-info.ts';
import { outcomeNames } from '../market-data/registered.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import type { NodeParts } from './node-parts.ts';

export function marketParts(
  parts: Pick<NodeParts, 'catalog' | 'clock' | 'edits' | 'infos' | 'repairs' | 'tables' | 'writer'>,
  ledger: LedgerCommands,
) {
  const { catalog, clock, edits, infos, repairs, tables, writer } = parts;
  return {
    t: tables,
    ledger,
    sequenceLock: writer.sequenceLock,
    now: clock.now,
    venue: edits,
    eventOf: (condition: string) =>
      marketLifecycleLookup(catalog.current.prepared)(condition)?.event.id,
    namesOf: (market: MarketRow) => outcomeNames(tables, market, infos.find(market)),
    slugOf: (market: MarketRow) => infos.find(market)?.slug,
    unpublished: (condition: string): void => repairs.add([condition]),
  };
}
