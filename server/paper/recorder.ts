/**
 * Records a venue: its catalog, and what its market stream says, in a file (storage/recordings). It goes on over lost
 * connections, each of which is a gap, until its signal ends it.
 *
 * Thread: that of a command.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject, text as textOf } from '../../storage/catalog/catalog-json.ts';
import type { RecordingWriter } from '../../storage/recordings/writer.ts';
import { pagesOf, type SourceApi, type SourceMarket } from './source-api.ts';
import { SourceSocket } from './source-socket.ts';
import { STREAM_TOKENS_MAX } from './source-stream.ts';

export interface RecorderParts {
  readonly api: SourceApi;
  readonly streamUrl: string;
  readonly markets: readonly SourceMarket[];
  readonly writer: RecordingWriter;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
  /** Called about once a second. */
  readonly onProgress?: () => void;
  /** Between two looks at the catalog. */
  readonly catalogMs?: number;
}

const FLUSH_MS = 1_000;
const CATALOG_MS = 60_000;

/** Members of a market whose change is written. */
const TERMS = [
  'conditionId',
  'closed',
  'active',
  'acceptingOrders',
  'orderPriceMinTickSize',
  'orderMinSize',
  'negRisk',
  'umaResolutionStatus',
] as const;

export class Recorder {
  private readonly o: RecorderParts;
  private readonly known = new Map<string, string>();
  private newest = 0;
  private failed: Error | undefined;
  messages = 0;
  gaps = 0;

  constructor(parts: RecorderParts) {
    this.o = parts;
  }

  /** Resolves when the signal has ended it; rejects when nothing can be written any more. */
  async run(): Promise<void> {
    const { markets, signal, writer } = this.o;
    await this.writeCatalog(signal);
    const tokens = markets.flatMap((market) => market.tokens);
    const sockets: SourceSocket[] = [];
    for (let from = 0; from < tokens.length; from += STREAM_TOKENS_MAX) {
      sockets.push(this.follow(tokens.slice(from, from + STREAM_TOKENS_MAX)));
    }
    const end = new AbortController();
    const looking = this.lookAtCatalog(AbortSignal.any([signal, end.signal]));
    try {
      while (!signal.aborted) {
        await sleep(FLUSH_MS, undefined, { signal }).catch(() => undefined);
        if (this.failed !== undefined) throw this.failed;
        await writer.flush();
        this.o.onProgress?.();
      }
    } finally {
      for (const socket of sockets) socket.close();
      end.abort();
      await looking;
      await writer.close(this.at());
    }
  }

  /** A source that is slow to answer holds up nothing else. */
  private async lookAtCatalog(signal: AbortSignal): Promise<void> {
    const { catalogMs = CATALOG_MS, log } = this.o;
    for (;;) {
      await sleep(catalogMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.writeCatalog(signal).catch(({ message }: Error) => log(`no catalog: ${message}`));
    }
  }

  /** Never earlier than what was written before. */
  private at(): number {
    this.newest = Math.max(this.newest, this.o.now());
    return this.newest;
  }

  /** Events that are new, or of whose markets something has changed. */
  private async writeCatalog(signal: AbortSignal): Promise<void> {
    const { api, markets, writer } = this.o;
    const conditions = new Set(markets.map(({ condition }) => condition));
    for (const id of new Set(markets.map(({ event }) => event))) {
      if (signal.aborted) return;
      const event = await api.event(id);
      const all = Array.isArray(event.markets) ? event.markets.filter(isObject) : [];
      const own = all.filter(({ conditionId }) =>
        conditions.has(String(conditionId).toLowerCase()),
      );
      const terms = JSON.stringify(own.map(termsOf));
      if (terms === this.known.get(id)) continue;
      this.known.set(id, terms);
      await writer.write({ at: this.at(), kind: 'catalog', event: { ...event, markets: own } });
    }
  }

  private follow(tokens: readonly string[]): SourceSocket {
    const { log, streamUrl } = this.o;
    let lostAt: number | undefined;
    /** Tokens whose book has not come yet. */
    let awaited = new Set<string>();
    /** Each try that fails again is not worth a line. */
    let lastProblem = '';
    return new SourceSocket(streamUrl, {
      opened: (send) => {
        awaited = new Set(tokens);
        if (lostAt !== undefined) {
          this.gaps += 1;
          const to = this.at();
          this.write({ at: to, kind: 'gap', from: lostAt, to });
          log(`connected again after ${to - lostAt} ms`);
        }
        lostAt = undefined;
        lastProblem = '';
        send({ type: 'market', assets_ids: tokens });
        void this.writeSnapshots(tokens, awaited);
      },
      text: (text) => {
        for (const message of messagesOf(text)) {
          if (message.event_type === 'book') awaited.delete(textOf(message.asset_id));
          this.message(message);
        }
      },
      ended: (reason, problem = reason) => {
        lostAt ??= this.at();
        if (problem === lastProblem) return;
        lastProblem = problem;
        log(`${streamUrl}: no connection: ${problem}`);
      },
    });
  }

  /** Of a source that begins a subscription with books, those have come before. */
  private async writeSnapshots(tokens: readonly string[], awaited: Set<string>): Promise<void> {
    for (const page of pagesOf(tokens)) {
      try {
        for (const { json, token } of await this.o.api.snapshots(page)) {
          if (!awaited.delete(token)) continue;
          this.message({ ...json, event_type: 'book' });
        }
      } catch (error) {
        if (this.o.signal.aborted) return;
        this.o.log(`no snapshots: ${(error as Error).message}`);
      }
    }
  }

  private message(message: JsonObject): void {
    this.messages += 1;
    this.write({ at: this.at(), kind: 'message', message });
  }

  private write(entry: Parameters<RecordingWriter['write']>[0]): void {
    this.o.writer.write(entry).catch((error: Error) => {
      this.failed ??= error;
    });
  }
}

/** What has no type says nothing that a player could use. */
function messagesOf(text: string): JsonObject[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return [];
  }
  const list: unknown[] = Array.isArray(json) ? json : [json];
  return list.filter(isObject).filter((each) => typeof each.event_type === 'string');
}

function termsOf(market: JsonObject): unknown[] {
  // The prices of an open market are those of its book.
  const payout = market.closed === true ? [market.outcomePrices] : [];
  return [...TERMS.map((name) => market[name]), ...payout];
}
