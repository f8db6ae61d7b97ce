/**
 * What a catalog file held, for people: one text for the command line and the log.
 *
 * Pure; any thread.
 */
import type { CatalogReport } from './catalog-file.ts';

/** What the catalog holds, then a line for each reason why something is amiss in it. */
export function describeReport(report: CatalogReport): readonly string[] {
  const { events, markets, marketsWithBooks, marketsTradable, tags, series } = report;
  return [
    `${events} events, ${markets} markets (${marketsWithBooks} with order books, ` +
      `${marketsTradable} open for trading), ${tags} tags, ${series} series, ` +
      `${report.creators} creators, ${report.sites} sites`,
    ...report.skipped.map(({ reason, count, first }) => {
      const more = count > first.length ? ', ...' : '';
      return `${count} ${reason} (${first.join(', ')}${more})`;
    }),
  ];
}
