/**
 * Bodies of errors: text, advice and code of a refusal.
 * Rules: docs/protocol.md#refusal-codes
 *
 * Thread: any; pure.
 */
import { type REFUSAL_FACTS, REFUSALS, type RefusalCode, refusalOf } from './refusals.ts';

export type RefusalFacts = Readonly<Partial<Record<keyof typeof REFUSAL_FACTS, string>>>;

interface Particulars {
  /** Text in place of the usual one of the code. */
  readonly text?: string;
  readonly facts?: RefusalFacts | undefined;
}

/** @param detail '' = the advice of the code, which may have none */
export function errorBody(
  code: RefusalCode,
  detail = '',
  { facts, text }: Particulars = {},
): string {
  const { detail: advice, texts } = refusalOf(code);
  return JSON.stringify({ error: text ?? texts[0], detail: detail || advice, ...facts, code });
}

/** Body of a refusal that is known by its text alone; a text of no code has none. */
export function errorBodyOf(text: string, detail = '', facts?: RefusalFacts): string {
  const code = refusalCode(text);
  if (code !== undefined) return errorBody(code, detail, { text, facts });
  return JSON.stringify({ error: text, detail: detail || undefined, ...facts });
}

/** Body without advice, as an older status 403 was published. */
export function bareBody(code: RefusalCode): string {
  return JSON.stringify({ error: REFUSALS[code].texts[0], code });
}

export function typedErrorBody(
  type: string,
  code: RefusalCode,
  detail = '',
  text: string = REFUSALS[code].texts[0],
): string {
  return JSON.stringify({ type, error: text, detail: detail || refusalOf(code).detail, code });
}

/**
 * Codes by whole texts; the first one of a text that several have.
 * @internal Codes of the client are generated from it.
 */
export const CODE_BY_TEXT = new Map<string, RefusalCode>();
/**
 * Codes of texts that begin others.
 * @internal Codes of the client are generated from it.
 */
export const CODE_BY_BEGINNING: (readonly [beginning: string, code: RefusalCode])[] = [];
const CODES = Object.keys(REFUSALS) as RefusalCode[];
for (const code of CODES) {
  for (const text of refusalOf(code).texts) {
    if (text.endsWith(' ')) CODE_BY_BEGINNING.push([text, code]);
    else if (!CODE_BY_TEXT.has(text)) CODE_BY_TEXT.set(text, code);
  }
}
// Several rules share the text of a profile, which may be the usual one of another.
for (const code of CODES) {
  const { profileText } = refusalOf(code);
  if (profileText !== undefined && !CODE_BY_TEXT.has(profileText))
    CODE_BY_TEXT.set(profileText, code);
}

export function refusalCode(text: string): RefusalCode | undefined {
  return (
    CODE_BY_TEXT.get(text) ??
    CODE_BY_BEGINNING.find(([beginning]) => text.startsWith(beginning))?.[1]
  );
}

export const ENGINE_BUSY = errorBody('ENGINE_BUSY');
export const TRADING_PAUSED = errorBody('TRADING_PAUSED');
export const JOURNAL_UNAVAILABLE = errorBody('JOURNAL_UNAVAILABLE');
export const OUTCOME_UNKNOWN = errorBody('OUTCOME_UNKNOWN');
export const INTERNAL_ERROR = errorBody('INTERNAL_ERROR');
export const NOT_ALLOWED_ADDRESS = errorBody('ADDRESS_NOT_ALLOWED');
