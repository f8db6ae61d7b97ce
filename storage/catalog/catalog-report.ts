/**
 * The content of a catalog file as text, for the command line and the log.
 *
 * Pure; any thread.
 */
import type { CatalogReport } from './catalog-file.ts';

/**
 * Returns the content of a catalog, then a line for each reason for which objects were skipped or
 * are wrong.
 * @param namesAll true: every object that is left out is named, not the first few
 */
export function describeReport(report: CatalogReport, namesAll = false): readonly string[] {
  const { events, markets, marketsWithBooks, marketsTradable, tags, series } = report;
  return [
    `${events} events, ${markets} markets (${marketsWithBooks} with order books, ` +
      `${marketsTradable} open for trading), ${tags} tags, ${series} series, ` +
      `${report.creators} creators, ${report.sites} sites`,
    ...report.skipped.map(({ reason, count, field, first, names }) => {
      const named = namesAll ? (names ?? first) : first;
      const more = count > named.length ? ', ...' : '';
      const missing = field === undefined ? '' : `; the field is \`${field}\``;
      return `${count} ${reason} (${named.join(', ')}${more})${missing}`;
    }),
  ];
}
