/**
 * Measures the text of a message before it is parsed: depth and number of values. Thousands of nested values take a
 * hundred times as long to parse as another message of that length.
 *
 * Thread: the I/O thread. Pure.
 */

/** An object with lists of objects has three levels. */
const DEPTH_MAX = 8;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Returns true if a text is nested too deeply or has more than `valuesMax` values. It need not be JSON. */
export function isExcessive(text: string, valuesMax: number): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at);
    } else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      depth += 1;
      values += 1;
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) {
      depth -= 1;
    } else if (char === COMMA || char === COLON) {
      values += 1;
    }
    if (depth > DEPTH_MAX || values > valuesMax) return true;
  }
  return false;
}

/** Position of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}
