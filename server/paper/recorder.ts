/**
 * Records a source in a file (storage/recordings): its catalog and its market stream. A lost connection is a gap; the
 * signal ends the recording.
 *
 * Thread: that of a command.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject, text as textOf } from '../../storage/catalog/catalog-json.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import type { RecordingWriter } from '../../storage/recordings/writer.ts';
import { pagesOf, type SourceApi, type SourceMarket } from './source-api.ts';
import { SourceSocket } from './source-socket.ts';
import { STREAM_TOKENS_MAX } from './source-stream.ts';

export interface RecorderParts {
  readonly api: SourceApi;
  readonly streamUrl: string;
  readonly markets: readonly SourceMarket[];
  readonly writer: RecordingWriter;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
  /** Called about once a second. */
  readonly onProgress?: () => void;
  /** Milliseconds between two reads of the catalog. */
  readonly catalogMs?: number;
}

const FLUSH_MS = 1_000;
const CATALOG_MS = 60_000;

/** Members of a market whose change writes its event again. */
const TERMS = [
  'conditionId',
  'outcomes',
  'closed',
  'active',
  'acceptingOrders',
  'orderPriceMinTickSize',
  'orderMinSize',
  'negRisk',
  'umaResolutionStatus',
  'feesEnabled',
  'feeSchedule',
  'makerBaseFee',
  'takerBaseFee',
  'secondsDelay',
  'startDate',
  'gameStartTime',
  'endDate',
] as const;

export class Recorder {
  private readonly parts: RecorderParts;
  private readonly known = new Map<string, string>();
  private newest = 0;
  private failed: Error | undefined;
  messages = 0;
  gaps = 0;

  constructor(parts: RecorderParts) {
    this.parts = parts;
  }

  /** Resolves after the signal; rejects when a write fails. */
  async run(): Promise<void> {
    const { markets, signal, writer } = this.parts;
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
        this.parts.onProgress?.();
      }
    } finally {
      for (const socket of sockets) socket.close();
      end.abort();
      await looking;
      await writer.close(this.at());
    }
  }

  /** Writes the catalog regularly. A slow source delays nothing else. */
  private async lookAtCatalog(signal: AbortSignal): Promise<void> {
    const { catalogMs = CATALOG_MS, log } = this.parts;
    for (;;) {
      await sleep(catalogMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.writeCatalog(signal).catch(({ message }: Error) => log(`no catalog: ${message}`));
    }
  }

  /** Time that is never earlier than that of a written entry. */
  private at(): number {
    this.newest = Math.max(this.newest, this.parts.now());
    return this.newest;
  }

  private async writeCatalog(signal: AbortSignal): Promise<void> {
    const { api, markets, writer } = this.parts;
    const conditions = new Set(markets.map(({ condition }) => condition));
    for (const id of new Set(markets.map(({ event }) => event))) {
      if (signal.aborted) return;
      const event = await api.event(id);
      const all = Array.isArray(event.markets) ? event.markets.filter(isObject) : [];
      const own = all.filter(({ conditionId }) =>
        conditions.has(wholeCondition(String(conditionId).toLowerCase())),
      );
      const terms = JSON.stringify(own.map(termsOf));
      if (terms === this.known.get(id)) continue;
      this.known.set(id, terms);
      await writer.write({ at: this.at(), kind: 'catalog', event: { ...event, markets: own } });
    }
  }

  private follow(tokens: readonly string[]): SourceSocket {
    const { log, streamUrl } = this.parts;
    let lostAt: number | undefined;
    let awaited = new Set<string>();
    /** Last logged problem, so that each failing try is not a line. */
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

  /** Writes the books that a source does not send at the beginning of a subscription. */
  private async writeSnapshots(tokens: readonly string[], awaited: Set<string>): Promise<void> {
    for (const page of pagesOf(tokens)) {
      try {
        for (const { json, token } of await this.parts.api.snapshots(page)) {
          if (!awaited.delete(token)) continue;
          this.message({ ...json, event_type: 'book' });
        }
      } catch (error) {
        if (this.parts.signal.aborted) return;
        this.parts.log(`no snapshots: ${(error as Error).message}`);
      }
    }
  }

  private message(message: JsonObject): void {
    this.messages += 1;
    this.write({ at: this.at(), kind: 'message', message });
  }

  private write(entry: Parameters<RecordingWriter['write']>[0]): void {
    this.parts.writer.write(entry).catch((error: Error) => {
      this.failed ??= error;
    });
  }
}

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
