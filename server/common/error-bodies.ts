/**
 * Bodies of errors: the text, what a person can do about it, and the code of the refusal.
 * Rules: docs/protocol.md#refusal-codes
 */
import { REFUSAL_DETAILS, type REFUSAL_FACTS } from './refusal-details.ts';
import { REFUSALS, type RefusalCode } from './refusals.ts';

const BY_TEXT = new Map<string, RefusalCode>();
const BY_BEGINNING: (readonly [text: string, code: RefusalCode])[] = [];
for (const [code, texts] of Object.entries(REFUSALS) as [RefusalCode, readonly string[]][]) {
  for (const text of texts) {
    if (text.endsWith(' ')) BY_BEGINNING.push([text, code]);
    else if (!BY_TEXT.has(text)) BY_TEXT.set(text, code);
  }
}

/** @returns undefined for a text that the table does not have, which a test refuses */
export function refusalCode(error: string): RefusalCode | undefined {
  return BY_TEXT.get(error) ?? BY_BEGINNING.find(([start]) => error.startsWith(start))?.[1];
}

export type RefusalFacts = Readonly<Partial<Record<keyof typeof REFUSAL_FACTS, string>>>;

/** @param detail without one that of its code */
export function errorBody(error: string, detail = '', facts: RefusalFacts = {}): string {
  const code = refusalCode(error);
  return JSON.stringify({ error, detail: detail || detailOf(code), ...facts, code });
}

/** The same of another status than 400 and 401, as it was published: without a detail. */
export function bareBody(error: string): string {
  return JSON.stringify({ error, code: refusalCode(error) });
}

/** The same of the catalog API. */
export function typedErrorBody(type: string, error: string, detail = ''): string {
  const code = refusalCode(error);
  return JSON.stringify({ type, error, detail: detail || detailOf(code), code });
}

/** Undefined for a code of other statuses than 400 and 401 (refusal-details.ts). */
export function detailOf(code: RefusalCode | undefined): string | undefined {
  const details: Partial<Record<RefusalCode, string>> = REFUSAL_DETAILS;
  return code === undefined ? undefined : details[code];
}

export const ENGINE_BUSY = errorBody('engine busy');
/** While the operator pauses the venue. */
export const TRADING_PAUSED = errorBody(REFUSALS.TRADING_PAUSED[0]);
export const JOURNAL_UNAVAILABLE = errorBody('journal unavailable');
/** Of a cluster: the order may be in the log, or appear there. */
export const OUTCOME_UNKNOWN = errorBody('outcome unknown, ask by id');
export const INTERNAL_ERROR = errorBody('internal_error');
export const NOT_ALLOWED_ADDRESS = errorBody('unauthorized: ip_not_allowlisted');
