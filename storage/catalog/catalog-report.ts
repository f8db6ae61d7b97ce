/**
 * Describes what a catalog file contained, as one text for the command line and the log.
 *
 * Pure; any thread.
 */
import type { CatalogReport } from './catalog-file.ts';

/**
 * What the catalog contains, then a line for each reason for which objects were skipped or are
 * wrong.
 */
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
