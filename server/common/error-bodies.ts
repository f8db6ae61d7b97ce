/**
 * Bodies of errors: the text, an explanation where there is one, and the code of the refusal.
 * Rules: docs/protocol.md#refusal-codes
 */
import { REFUSALS, type RefusalCode } from './refusals.ts';

const BY_TEXT = new Map<string, RefusalCode>();
const BY_BEGINNING: (readonly [text: string, code: RefusalCode])[] = [];
for (const [code, texts] of Object.entries(REFUSALS) as [RefusalCode, readonly string[]][]) {
  for (const text of texts) {
    if (text.endsWith(': ')) BY_BEGINNING.push([text, code]);
    else BY_TEXT.set(text, code);
  }
}

/** @returns undefined for a text that the table does not have, which a test refuses */
export function refusalCode(error: string): RefusalCode | undefined {
  return BY_TEXT.get(error) ?? BY_BEGINNING.find(([start]) => error.startsWith(start))?.[1];
}

/** Body of an error with an optional explanation for the person who has to correct the request. */
export function errorBody(error: string, detail = ''): string {
  const code = refusalCode(error);
  return JSON.stringify(detail === '' ? { error, code } : { error, detail, code });
}

/** The same of the catalog API. */
export function typedErrorBody(type: string, error: string, detail?: string): string {
  return JSON.stringify({ type, error, detail, code: refusalCode(error) });
}

export const ENGINE_BUSY = errorBody('engine busy');
/** While the operator pauses the venue. */
export const TRADING_PAUSED = errorBody(REFUSALS.TRADING_PAUSED[0]);
export const JOURNAL_UNAVAILABLE = errorBody('journal unavailable');
/** Of a cluster: the order may be in the log, or appear there. */
export const OUTCOME_UNKNOWN = errorBody('outcome unknown, ask by id');
export const INTERNAL_ERROR = errorBody('internal_error');
export const NOT_ALLOWED_ADDRESS = errorBody('unauthorized: ip_not_allowlisted');
