/**
 * A catalog API with faults that a test sets: the source of pulls. It serves raw objects unchanged,
 * in the pages and shapes of a catalog API.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../storage/catalog/catalog-file.ts';

export interface SourceFile {
  readonly events: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly series: readonly JsonObject[];
}

/** Answers a request in place of the source; false leaves it to the source. */
export type Fault = (path: string, response: ServerResponse) => boolean;

const SAMPLING_ROWS = 3;
const ONE_EVENT = /^\/events\/([0-9]+)$/;

/** ETag of a catalog generation in the form that nodes send. */
export function catalogEtag(digit: string): string {
  return `W/"catalog-${digit.repeat(40)}"`;
}

export class FakeSource {
  file: SourceFile;
  /**
   * Sent with every 200 and compared for a 304 (see catalogEtag); `undefined` for a source of
   * another kind.
   */
  etag: string | undefined;
  /** Rows of a page at most, whatever the request's limit. */
  rowsMax = 500;
  fault: Fault = () => false;
  readonly requests: string[] = [];
  private readonly server = createServer((request, response) => this.answer(request, response));

  private port = 0;

  private constructor(file: SourceFile) {
    this.file = file;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  static async start(t: TestContext, file: SourceFile): Promise<FakeSource> {
    const source = new FakeSource(file);
    await new Promise<void>((resolve) => source.server.listen(0, '127.0.0.1', resolve));
    source.port = (source.server.address() as AddressInfo).port;
    t.after(() => source.stop());
    return source;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push(path);
    if (this.fault(path, response)) return;
    if (this.etag !== undefined) {
      response.setHeader('ETag', this.etag);
      if (request.headers['if-none-match'] === this.etag) {
        response.writeHead(304).end();
        return;
      }
    }
    const found = this.find(new URL(path, this.url));
    if (found === undefined) {
      response.writeHead(404).end('{"type":"not found error","error":"id not found"}');
      return;
    }
    const json = JSON.stringify(found);
    if (/gzip/.test(String(request.headers['accept-encoding']))) {
      response.setHeader('Content-Encoding', 'gzip');
      response.end(gzipSync(json));
    } else response.end(json);
  }

  private find({ pathname, searchParams }: URL): unknown {
    const one = ONE_EVENT.exec(pathname)?.[1];
    if (one !== undefined) return this.event(one);
    if (pathname === '/sampling-markets') return this.sampling(searchParams.get('next_cursor'));
    const list = this.list(pathname);
    if (list === undefined) return undefined;
    assert.equal(searchParams.get('ascending'), 'true');
    const limit = Math.min(Number(searchParams.get('limit')), this.rowsMax);
    const offset = Number(searchParams.get('offset'));
    return list.slice(offset, offset + limit);
  }

  private event(wanted: string): unknown {
    const event = this.file.events.find(({ id }) => String(id) === wanted);
    const markets = (event?.markets ?? []) as readonly JsonObject[];
    return event && { ...event, markets: markets.map(({ raw_metadata: _, ...rest }) => rest) };
  }

  private sampling(cursor: string | null): unknown {
    const offset = Number(Buffer.from(cursor ?? '', 'base64').toString());
    const markets = this.file.events.flatMap((event) => event.markets as readonly JsonObject[]);
    const data = markets.slice(offset, offset + SAMPLING_ROWS).map((market) => ({
      market_id: Number(market.id),
      raw_metadata: market.raw_metadata ?? {},
    }));
    const next = offset + SAMPLING_ROWS < markets.length ? offset + SAMPLING_ROWS : -1;
    return { data, next_cursor: Buffer.from(String(next)).toString('base64') };
  }

  private list(path: string): readonly unknown[] | undefined {
    const { events, tags, series } = this.file;
    // As the API shows them: event lists have no markets, the series list has event summaries.
    if (path === '/events') return events.map(({ markets: _, ...event }) => event);
    if (path === '/tags') return tags;
    if (path !== '/series') return undefined;
    return series.map((item) => ({ ...item, events: [{ id: '1', title: 'a summary' }] }));
  }
}

export function sourceFile(events: number, label = 'first'): SourceFile {
  const tags = [1, 2, 3].map((id) => ({ id: String(id), label: `${label} ${id}`, slug: `t${id}` }));
  const series = [{ id: '7', title: `${label} series`, slug: 's7', recurrence: 'weekly' }];
  return {
    tags,
    series,
    events: Array.from({ length: events }, (_, index) => ({
      id: String(index + 1),
      title: `${label}: will it ${index}? é 🌒 \ud800`,
      slug: `event-${index + 1}`,
      tags: [tags[index % 3]],
      series,
      eventMetadata: { note: label },
      oddField: [null, 1.5],
      markets: [0, 1].map((place) => sourceMarket(2 * index + place + 1, label)),
    })),
  };
}

function sourceMarket(id: number, label: string): JsonObject {
  return {
    id: String(id),
    question: `${label} ${id}?`,
    slug: `market-${id}`,
    conditionId: `0x${id.toString(16).padStart(64, '0')}`,
    outcomes: '["Yes","No"]',
    clobTokenIds: JSON.stringify([`${id}1`, `${id}2`]),
    active: true,
    orderMinSize: 5,
  };
}
