/** Requests from a command to a running node over HTTP. */

import { failureReason } from '../common/failure-reason.ts';
import { terminalText } from '../common/terminal.ts';
import type { Config } from '../config/config.ts';
import { type Context, type Options, Refused } from './context.ts';
import { configOf, textOf } from './settings.ts';

/** Longer than a node waits for an edit of its catalog. */
const TIMEOUT_MS = 45_000;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** The value of `--url`, else one of the listeners of the environment. */
export function baseOf(
  context: Context,
  options: Options,
  listener: (config: Config) => Place,
): string {
  const url = textOf(options, 'url');
  if (url !== undefined) {
    const isHttp = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (!isHttp) throw new Refused(`--url must be an http or https URL, not "${url}"`);
    return url;
  }
  const { host, port } = listener(configOf(context));
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A request has no answer, or none that is a result. */
export class AnswerError extends Error {
  /** 0 = there is no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The answer as JSON. Throws an AnswerError with the answer if the request fails. */
export async function answerOf<T>(
  url: URL,
  signal: AbortSignal,
  init: RequestInit = {},
): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, {
      ...init,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  } catch (error) {
    throw new AnswerError(0, `no answer from ${url.origin}: ${failureReason(error)}`);
  }
  const body = (await response.json()) as T & { readonly error?: string; readonly detail?: string };
  if (!response.ok) {
    const detail = body.detail === undefined ? '' : `: ${body.detail}`;
    const text = terminalText(`${url.origin}: ${body.error ?? response.status}${detail}`);
    throw new AnswerError(response.status, text);
  }
  return body;
}
