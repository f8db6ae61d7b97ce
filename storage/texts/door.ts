/**
 * The one rule for texts from people and from sources: names stand in one line, prose may have several. An
 * operator is told the fault; a catalog from elsewhere is cleaned, because nobody here can correct it.
 * Rules: docs/protocol.md#texts
 *
 * Pure; any thread.
 */
import { isCommonProse, replaceUnprintable, unprintableIn } from './printable.ts';

/** Characters of texts from elsewhere, far above real ones; operators have bounds of their own. */
const FOREIGN_NAME_MAX = 1_000;
const FOREIGN_TEXT_MAX = 100_000;

/**
 * Characters that prose may not have. Blanks of no width are harmless there; overrides of direction turn the text
 * behind them.
 */
const BAD_IN_PROSE =
  /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u202a-\u202e\u2066-\u2069]/gu;
const NOTHING_LEFT = '\ufffd';

/**
 * Returns true for one line of printable characters without blanks at its ends, and for the empty
 * text.
 */
export function isName(text: string): boolean {
  return text === text.trim() && unprintableIn(text) === undefined;
}

/** Returns true for lines without control characters but tabs and line breaks. */
export function isProse(text: string): boolean {
  return isCommonProse(text) || text.search(BAD_IN_PROSE) === -1;
}

/** Returns a name without unprintable characters, cut where it is overlong. Blanks at its ends stay. */
export function cleanName(text: string): string {
  const clean = cleanLine(text);
  // A name of blanks alone belongs to its source.
  return clean === '' && text !== '' ? NOTHING_LEFT : cut(clean, FOREIGN_NAME_MAX);
}

/**
 * Returns one line of any kind (an address, a time, a list as JSON) cleaned in this way. A half of a surrogate pair
 * becomes U+FFFD.
 */
export function cleanLine(text: string): string {
  if (unprintableIn(text) === undefined) return cut(text, FOREIGN_TEXT_MAX);
  // A tab or a line break separates words: the run of blanks that it is in becomes one blank.
  const joined = text.replace(/\s*[\t\n\v\f\r\u0085\u2028\u2029]\s*/gu, ' ');
  let clean = joined.toWellFormed();
  // A joiner is needed only while both of its neighbours are there.
  while (unprintableIn(clean) !== undefined) clean = replaceUnprintable(clean, '', () => '');
  return cut(clean, FOREIGN_TEXT_MAX);
}

/** Returns prose without control characters, cut where it is overlong. */
export function cleanProse(text: string): string {
  const clean = isProse(text) ? text : text.toWellFormed().replace(BAD_IN_PROSE, '');
  return cut(clean, FOREIGN_TEXT_MAX);
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text[most - 1]!) ? most - 1 : most;
  return text.slice(0, end);
}
