/**
 * The code of a refusal: the node's own, or by its text where a node does not send codes, as in the
 * results of orders unless `RESULT_CODES=on`.
 */
import { REFUSALS, type RefusalCode } from './types.ts';

const BY_TEXT = new Map<string, RefusalCode>();
const BY_BEGINNING: (readonly [text: string, code: RefusalCode])[] = [];
for (const [code, texts] of Object.entries(REFUSALS) as [RefusalCode, readonly string[]][]) {
  for (const text of texts) {
    if (text.endsWith(' ')) BY_BEGINNING.push([text, code]);
    else if (!BY_TEXT.has(text)) BY_TEXT.set(text, code);
  }
}

/** @returns undefined for a text that is not of the node, or of a newer one without a code */
export function refusalCode(text: string, sent?: unknown): RefusalCode | undefined {
  if (typeof sent === 'string' && Object.hasOwn(REFUSALS, sent)) return sent as RefusalCode;
  return BY_TEXT.get(text) ?? BY_BEGINNING.find(([start]) => text.startsWith(start))?.[1];
}
