/**
 * Characters that print nothing, or that a terminal obeys: the one definition behind texts that are taken
 * (door.ts), written to a terminal (server/common/terminal.ts) and into CSV (csv.ts).
 * Rules: docs/protocol.md#texts
 */

/**
 * Control characters, halves of surrogate pairs, noncharacters, characters of private use, line and paragraph
 * separators, annotations, and what is invisible: marks of direction, blanks of no width, variation selectors.
 */
const UNPRINTABLE =
  /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;
/** Texts of common printable characters, with tabs and line breaks or without: much quicker to see. */
const COMMON =
  /^[ -~\u00a0-\u00ac\u00ae-\u024f\u0370-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*$/;
const COMMON_LINES =
  /^[\t\n\r -~\u00a0-\u00ac\u00ae-\u024f\u0370-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*$/;
const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');
/**
 * Invisible characters that scripts and emoji need: a joiner between two characters beyond ASCII that are no blanks, a variation selector
 * behind such a character, the selector of a keycap, the name of a region behind a black flag.
 */
const NEEDED =
  /(?<=[^\s\0-\u007f])[\u200c\u200d](?=[^\s\0-\u007f])|(?<=[\u0080-\u{10ffff}])[\ufe00-\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;

export function isCommonProse(text: string): boolean {
  return COMMON_LINES.test(text);
}

/** Returns the first unprintable character of a text that is not in `allowed`, `undefined` where there is none. */
export function unprintableIn(text: string, allowed = ''): string | undefined {
  if (COMMON.test(text) || !UNPRINTABLE.test(text)) return undefined;
  for (const [character] of text.replace(NEEDED, '').matchAll(EVERY_UNPRINTABLE)) {
    if (!allowed.includes(character)) return character;
  }
  return undefined;
}

export function replaceUnprintable(
  text: string,
  kept: string,
  replacement: (character: string) => string,
): string {
  if (COMMON.test(text) || !UNPRINTABLE.test(text)) return text;
  let result = '';
  let end = 0;
  for (const { 0: needed, index } of text.matchAll(NEEDED)) {
    result += replaced(text.slice(end, index)) + needed;
    end = index + needed.length;
  }
  return result + replaced(text.slice(end));

  function replaced(part: string): string {
    return part.replace(EVERY_UNPRINTABLE, (character) =>
      kept.includes(character) ? character : replacement(character),
    );
  }
}

export function escapeOf(character: string): string {
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) return short;
  let escaped = '';
  for (let i = 0; i < character.length; i++) {
    escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
