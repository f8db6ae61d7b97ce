/**
 * The code of a refusal: the node's own, or that of its text. Results of orders have codes with
 * `RESULT_CODES=on` only.
 */
import { CODE_BY_BEGINNING, CODE_BY_TEXT, REFUSAL_CODES, type RefusalCode } from './types.ts';

const CODES: ReadonlySet<unknown> = new Set(REFUSAL_CODES);

/** @returns undefined for a text that is not of the node, or of a newer one without a code */
export function refusalCode(text: string, sent?: unknown): RefusalCode | undefined {
  if (CODES.has(sent)) return sent as RefusalCode;
  const code = CODE_BY_TEXT.get(text);
  if (code !== undefined) return code;
  for (const [beginning, begun] of CODE_BY_BEGINNING) if (text.startsWith(beginning)) return begun;
  return undefined;
}
