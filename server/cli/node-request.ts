/** HTTP requests from a command to a running node. */

import { failureReason } from '../common/failure-reason.ts';
import { httpCall } from '../common/http-call.ts';
import { terminalText } from '../common/terminal.ts';
import type { Config } from '../config/config.ts';
import { type Context, type Options, Refused } from './context.ts';
import { configOf, textOf } from './settings.ts';

/** Longer than a node waits for an edit of its catalog. */
const TIMEOUT_MS = 45_000;
const BODY_BYTES_MAX = 256 * 2 ** 20;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Returns `--url`, else one of the listeners of the environment. */
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

export class AnswerError extends Error {
  /** 0 = no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface NodeRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Returns the answer as JSON. Throws an AnswerError with the answer if the request fails. */
export async function answerOf<T>(
  { href, origin }: URL,
  signal: AbortSignal,
  request: NodeRequest = {},
): Promise<T> {
  const { body, headers = {}, method } = request;
  const limits = { msMax: TIMEOUT_MS, bytesMax: BODY_BYTES_MAX, followsAnyHost: true };
  const call = { method, headers, body, signal, ...limits };
  const { json, status } = await httpCall(href, call, async (answer) => ({
    status: answer.status,
    json: (await answer.body()).toString(),
  })).catch((error) => {
    throw new AnswerError(0, `no answer from ${origin}: ${failureReason(error)}`);
  });
  const answer = JSON.parse(json) as T & { readonly error?: string; readonly detail?: string };
  if (status < 200 || status > 299) {
    const detail = answer.detail === undefined ? '' : `: ${answer.detail}`;
    throw new AnswerError(status, terminalText(`${origin}: ${answer.error ?? status}${detail}`));
  }
  return answer;
}
