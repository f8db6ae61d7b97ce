/**
 * Reads of tokens for a route: finds them, reads one engine version of each, and waits for the next batch if a writer
 * changes a book at every try.
 *
 * Thread: I/O. Non-goals: content of the answers (token-routes.ts).
 */
import { lastBatch } from '../../engine/reads.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { Commits } from '../common/commits.ts';
import { errorBodyOf } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { leadLost, RETRY_SOON } from '../common/unavailable.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import { type BookRenderer, LONG } from './books.ts';
import { renderBooksLong } from './books-long.ts';
import { PolledAnswers } from './polled-answers.ts';
import { NOT_POLLED } from './polled-bodies.ts';
import { checkTokenItems, type ParsedTokens } from './token-items.ts';
import { PLAIN_BYTES_MAX, TokenRequest } from './token-request.ts';
import { TOKENS_BOUNDS, TOKENS_MAX, type TokenQuery } from './token-schemas.ts';
import type { Top, TopReader } from './top.ts';

const TOKENS_RULE = `the body must be an array of at most ${TOKENS_MAX} objects such as {"token_id": "1", "side": "BUY"}`;

export interface TokenReadParts {
  readonly books: BookRenderer;
  readonly tops: TopReader;
  /** Calls back after the next batch. Asserts that there is a writer: a book in change without a writer is a bug. */
  readonly whenBatchesDone: (callback: () => void) => void;
  /** Present in a cluster: an answer leaves once its state is in the log; it becomes an error if that may never be. */
  readonly commits: Commits | undefined;
}

type Rendered = { readonly status: number; readonly body: string | Uint8Array } | undefined;

export class TokenReads {
  private readonly parts: TokenReadParts;
  private readonly texts: BookRenderer['texts'];
  /** Request that is read last; its memory is reused. */
  private readonly wanted: TokenRequest;

  constructor(parts: TokenReadParts) {
    this.parts = parts;
    this.texts = parts.books.texts;
    this.wanted = new TokenRequest(this.texts.known);
  }

  ofToken<Query extends TokenQuery>(
    unknown: string,
    render: (token: TokenRow, query: Query) => Rendered,
  ): Handler<Query> {
    return (context, query) => {
      const token = this.texts.find(query.token_id);
      if (token === 0) context.reply(404, unknown);
      else this.answer(context, () => render(token, query));
    };
  }

  ofTop<Query extends TokenQuery>(
    unknown: string,
    render: (top: Top, query: Query) => Rendered,
  ): Handler<Query> {
    return this.ofToken<Query>(unknown, (token, query) => {
      const top = this.parts.tops.read(token);
      return top && render(top, query);
    });
  }

  ofMany(
    render: (tokens: string[], sides: ('' | 'BUY' | 'SELL')[]) => string | undefined,
  ): Handler<unknown> {
    return (context) =>
      this.withTokens(context, ({ sides, tokens }) =>
        this.answer(context, () => {
          const body = render(tokens, sides);
          return body === undefined ? undefined : ok(body);
        }),
      );
  }

  /**
   * Handler about the tokens of its body, each once. Body and answer allocate no value for each token. A polled body
   * gets the bytes of its last answer while its books are unchanged.
   * @param render fills the versions of the request
   */
  ofWanted(
    render: (request: TokenRequest) => Uint8Array | typeof LONG | undefined,
  ): Handler<unknown> {
    const { tables } = this.parts.books;
    const { wanted } = this;
    const { polled } = wanted;
    const answers = new PolledAnswers(tables, this.texts.known, polled);
    /** @param retake reads the request again after a wait, because other requests were read in between */
    const attempt = (
      context: RequestContext,
      retake: () => void,
      cell = NOT_POLLED,
    ): Promise<void> | undefined => {
      // Before the books: all that a batch changed is there once its number is.
      const batch = lastBatch(tables);
      const body = render(wanted);
      if (body === LONG) return this.answerLong(context);
      if (body !== undefined) {
        if (cell !== NOT_POLLED) answers.set(cell, batch, wanted, body);
        this.sendTransient(context, body);
      } else {
        this.parts.whenBatchesDone(() => {
          if (context.aborted) return;
          retake();
          void attempt(context, retake);
        });
      }
      return undefined;
    };
    return (context) => {
      const sent = context.bodyBytes;
      if (sent.length <= PLAIN_BYTES_MAX) {
        const cell = polled.find(sent);
        const known = cell === NOT_POLLED ? undefined : answers.find(cell);
        if (known !== undefined) return this.sendTransient(context, known);
        if (wanted.scan(sent, cell)) {
          return attempt(context, () => wanted.scan(context.bodyBytes), cell);
        }
      }
      return this.withTokens(context, ({ sides, tokens }) => {
        if (context.aborted) return undefined;
        const take = () => wanted.take(tokens, sides);
        take();
        return attempt(context, take);
      });
    };
  }

  /** Object with a member for each different known token for which `member` gives a text. */
  record(
    tokens: readonly string[],
    member: (top: Top, index: number) => string,
  ): string | undefined {
    const members = new Map<string, string>();
    for (let i = 0; i < tokens.length; i++) {
      const tokenId = tokens[i]!;
      const token = this.texts.find(tokenId);
      if (token === 0) continue;
      const top = this.parts.tops.read(token);
      if (top === undefined) return undefined;
      const text = member(top, i);
      if (text !== '') members.set(tokenId, text);
    }
    return `{${[...members].map(([id, text]) => `"${id}":${text}`).join(',')}}`;
  }

  private answer(context: RequestContext, render: () => Rendered): void {
    if (context.aborted) return;
    const rendered = render();
    if (rendered === undefined) this.parts.whenBatchesDone(() => this.answer(context, render));
    else this.send(context, rendered.status, rendered.body);
  }

  private async answerLong(context: RequestContext): Promise<void> {
    const { books: renderer, whenBatchesDone } = this.parts;
    const isGone = (): boolean => context.aborted;
    const body = await renderBooksLong({ renderer, whenBatchesDone, isGone }, this.wanted);
    if (body !== undefined) this.send(context, 200, body);
  }

  private send(context: RequestContext, status: number, body: string | Uint8Array): void {
    const { commits } = this.parts;
    if (commits?.isCommitted() === false) sendCommitted(commits, context, status, body);
    else context.reply(status, body);
  }

  /** Sends bytes that are valid only until the next answer. */
  private sendTransient(context: RequestContext, body: Uint8Array): void {
    const { commits } = this.parts;
    if (commits?.isCommitted() === false) {
      sendCommitted(commits, context, 200, new Uint8Array(body));
    } else context.replyTransient(200, body);
  }

  private withTokens(
    context: RequestContext,
    use: (parsed: Extract<ParsedTokens, { readonly ok: true }>) => void | Promise<void>,
  ): void | Promise<void> {
    return readJson(context, TOKENS_BOUNDS, (sent) => {
      const parsed = checkTokenItems(sent);
      if (!parsed.ok) return context.reply(400, errorBodyOf(parsed.error, TOKENS_RULE));
      const learning = this.texts.known.learn(parsed.tokens);
      return learning === undefined ? use(parsed) : learning.then(() => use(parsed));
    });
  }
}

function sendCommitted(
  commits: Commits,
  context: RequestContext,
  status: number,
  body: string | Uint8Array,
): void {
  commits.whenCommitted((isCommitted) => {
    if (context.aborted) return;
    if (isCommitted) context.reply(status, body);
    else context.reply(503, leadLost().body, RETRY_SOON);
  });
}

export function ok(body: string | Uint8Array): NonNullable<Rendered> {
  return { status: 200, body };
}
