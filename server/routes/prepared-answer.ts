/**
 * Answer that never changes: its bytes, compressed once for clients that accept that, and an ETag for answers
 * of 304.
 *
 * Thread: I/O; the runtime's own threads hash and compress.
 */
import { webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Headers } from '../http/answer-head.ts';
import type { RequestContext } from '../http/http.ts';

/** The slowest setting would take seconds for a large script. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const brotli = promisify(brotliCompress);
const CODINGS = { br: (bytes: Buffer) => brotli(bytes, BROTLI), gzip: promisify(gzip) };

type Coding = keyof typeof CODINGS;

interface Compressed {
  readonly bytes: Promise<Buffer>;
  readonly headers: Headers;
}

const NOT_MODIFIED = 304;
const TAG_BYTES = 16;

/** Request headers for PreparedAnswer.reply(), in its order. */
export const ANSWER_HEADERS = ['if-none-match', 'accept-encoding'] as const;

export class PreparedAnswer {
  private readonly bytes: Buffer;
  private readonly etag: string;
  private readonly headers: Headers;
  private readonly compressed = new Map<Coding, Compressed>();

  private constructor(bytes: Buffer, etag: string, headers: Headers) {
    this.bytes = bytes;
    this.etag = etag;
    this.headers = [...headers, ['ETag', etag], ['Vary', 'Accept-Encoding']];
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
    const coding = ACCEPTED.find(([, pattern]) => pattern.test(accepted))?.[0];
    if (coding === undefined) return context.reply(200, this.bytes, this.headers);
    const { bytes, headers } = this.in(coding);
    return bytes.then((content) => context.reply(200, content, headers));
  }

  private in(coding: Coding): Compressed {
    const known = this.compressed.get(coding);
    if (known !== undefined) return known;
    const made: Compressed = {
      bytes: CODINGS[coding](this.bytes),
      headers: [...this.headers, ['Content-Encoding', coding]],
    };
    this.compressed.set(coding, made);
    return made;
  }
}

/** Accept-Encoding with a coding, and not with the weight 0; the shortest coding comes first. */
const ACCEPTED = (Object.keys(CODINGS) as Coding[]).map(
  (coding) => [coding, new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`)] as const,
);
