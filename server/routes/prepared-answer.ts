/**
 * Answer that never changes: its bytes, compressed once for clients that accept that, and an ETag for answers
 * of 304.
 *
 * Thread: I/O; the runtime's own threads hash and compress.
 */
import { webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Headers } from '../http/answer-head.ts';
import type { RequestContext } from '../http/http.ts';

const compress = promisify(gzip);
const NOT_MODIFIED = 304;
const TAG_BYTES = 16;

/** Request headers for PreparedAnswer.reply(), in its order. */
export const ANSWER_HEADERS = ['if-none-match', 'accept-encoding'] as const;

export class PreparedAnswer {
  private readonly bytes: Buffer;
  private readonly etag: string;
  private readonly headers: Headers;
  private readonly gzipHeaders: Headers;
  private compressed: Promise<Buffer> | undefined = undefined;

  private constructor(bytes: Buffer, etag: string, headers: Headers) {
    this.bytes = bytes;
    this.etag = etag;
    this.headers = [...headers, ['ETag', etag], ['Vary', 'Accept-Encoding']];
    this.gzipHeaders = [...this.headers, ['Content-Encoding', 'gzip']];
  }

  /** @param headers besides those that follow from the bytes; a Content-Type comes first */
  static async of(content: string | Buffer, headers: Headers): Promise<PreparedAnswer> {
    const bytes = Buffer.from(content);
    const hash = Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes));
    return new PreparedAnswer(bytes, `"${hash.toString('base64url', 0, TAG_BYTES)}"`, headers);
  }

  reply(context: RequestContext): void | Promise<void> {
    const [known = '', accepted = ''] = context.headers;
    if (known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === this.etag)) {
      return context.reply(NOT_MODIFIED, '', this.headers);
    }
    if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted)) {
      return context.reply(200, this.bytes, this.headers);
    }
    this.compressed ??= compress(this.bytes);
    return this.compressed.then((bytes) => context.reply(200, bytes, this.gzipHeaders));
  }
}
