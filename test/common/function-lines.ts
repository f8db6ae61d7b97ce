/**
 * Lengths of the functions of a file, read from its indentation: in code formatted by Biome a body
 * ends at the next line that is indented no deeper than its head.
 */

export interface FunctionLines {
  readonly name: string;
  readonly lines: number;
}

const HEAD_OF_BLOCK = /^(?:if|else|for|while|switch|do|try|catch|finally|return|\})\b/;
const FUNCTION = /^(?:export )?(?:default )?(?:async )?function\b/;
const METHOD =
  /^(?:(?:private|protected|public|static|override|async|get|set) )*\*?(?:#?\w+|\['?[^\]]+\])\??(?:<[^(]*>)?\(/;

/** @param code without comments, which do not count, like blank lines */
export function functionLines(code: string): FunctionLines[] {
  const lines = code.split('\n').filter((line) => line.trim() !== '');
  const depths = lines.map((line) => line.length - line.trimStart().length);
  const found: FunctionLines[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    // A body opens at the end of a line.
    if (!/(?:[{([]|=>)$/.test(line)) continue;
    const head = headOf(lines, depths, at);
    const isArrow = /=>(?:$| (?!.* = [{([]$).*[{([]$)/.test(line);
    if (!isArrow && !(line.endsWith('{') && isFunction(lines[head]!.trimStart()))) continue;
    let end = at + 1;
    while (end < lines.length && depths[end]! > depths[at]!) end += 1;
    const closes =
      !line.endsWith('=>') && end < lines.length && /^[})\]]/.test(lines[end]!.trimStart());
    const count = end - head + (closes ? 1 : 0);
    found.push({ name: nameOf(lines, depths, head), lines: count });
  }
  return found;
}

/** First line of a statement whose parameters stand on lines of their own. */
function headOf(lines: readonly string[], depths: readonly number[], at: number): number {
  let head = at;
  while (head > 0 && /^[)}\]>]/.test(lines[head]!.trimStart())) {
    head -= 1;
    while (head > 0 && depths[head]! > depths[at]!) head -= 1;
  }
  return head;
}

function isFunction(head: string): boolean {
  return !HEAD_OF_BLOCK.test(head) && (FUNCTION.test(head) || METHOD.test(head));
}

function nameOf(lines: readonly string[], depths: readonly number[], head: number): string {
  let at = head;
  for (;;) {
    const words = lines[at]!.replace(
      /\b(?:export|default|async|function|private|protected|public|static|override|const|let|readonly|return|get|set|await|void)\b/g,
      '',
    );
    const name = /[\w.]+/.exec(words.split('=>')[0]!)?.[0];
    if (name !== undefined || at === 0) return name ?? '';
    at -= 1;
    while (at > 0 && depths[at]! >= depths[head]!) at -= 1;
  }
}
