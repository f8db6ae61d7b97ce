/**
 * Handlers with the faults that strike requests. Without faults the handlers stay as they are.
 * Rules: docs/protocol.md#faults
 *
 * Thread: I/O.
 */
import assert from 'node:assert/strict';
import { tokenMarket } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { ENGINE_BUSY } from '../common/error-bodies.ts';
import { parseJson } from '../common/json.ts';
import { boundsOf, type JsonBounds } from '../common/json-measure.ts';
import { bytesToHex } from '../common/uint256.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import type { AnyHandler, RouteRow } from '../http/route.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import { coveredBy } from './covered.ts';
import type { Fault, Faults, Subject } from './faults.ts';
import { faultRow, REQUEST_KINDS, type RequestKind } from './kinds.ts';
import { EFFECTS, type EffectParts, type Passage } from './request-effects.ts';

interface RequestFaultParts {
  readonly faults: Faults;
  readonly tables: Tables;
  readonly texts: Pick<TokenTexts, 'find'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

type Caller = { readonly apiKey: string; readonly address: Uint8Array } | undefined;
type Run = Handler<unknown, Caller>;

/** Bytes of the requests that wait; beyond them a request is refused. */
const WAITING_BYTES_MAX = 2 ** 26;
/** Bytes that a waiting request takes beside its body. */
const REQUEST_BYTES = 2 ** 12;
/** Bounds of a body where the row of the route has none. */
const USUAL_BOUNDS = boundsOf(1);
const CONDITION_MEMBERS = new Set(['conditionId', 'condition_id', 'condition', 'market']);
const TOKEN_MEMBERS = new Set(['tokenId', 'token_id', 'asset_id', 'market']);

/**
 * Returns handlers that faults may strike.
 * @param faults undefined with FAULTS=off: the handlers are those given
 * @param rows with the groups of their lists
 */
export function withFaults<Handlers extends Readonly<Record<string, AnyHandler>>>(
  faults: Faults | undefined,
  parts: Omit<RequestFaultParts, 'faults'>,
  handlers: Handlers,
  rows: ReadonlyMap<string, RouteRow>,
): Handlers {
  if (faults === undefined) return handlers;
  return new RequestFaults({ ...parts, faults }).wrap(handlers, rows);
}

/** Replaces the handlers of the rows that a kind covers. */
class RequestFaults {
  private readonly parts: RequestFaultParts;
  private readonly effectParts: EffectParts;
  private waitingBytes = 0;

  constructor(parts: RequestFaultParts) {
    this.parts = parts;
    this.effectParts = { faults: parts.faults, now: parts.now, stale: new WeakMap() };
  }

  wrap<Handlers extends Readonly<Record<string, AnyHandler>>>(
    handlers: Handlers,
    rows: ReadonlyMap<string, RouteRow>,
  ): Handlers {
    const wrapped = Object.entries(handlers).map(([key, handler]) => {
      const row = rows.get(key);
      const covered = coveredBy(key, row);
      const kinds = REQUEST_KINDS.filter((kind) => covered.has(faultRow(kind).covers));
      if (kinds.length === 0) return [key, handler];
      assert(typeof handler === 'function', `${key} has a handler of its caller`);
      return [key, this.struck(kinds, handler as Run, row?.bodyBounds ?? USUAL_BOUNDS)];
    });
    return Object.fromEntries(wrapped) as Handlers;
  }

  private struck(kinds: readonly RequestKind[], run: Run, bounds: JsonBounds): Run {
    const { faults } = this.parts;
    return (context, query, caller) => {
      const active = kinds.filter((kind) => faults.isActive(kind));
      if (active.length === 0) return run(context, query, caller);
      const passage: Passage = { context, delay: undefined, bounds };
      if (this.answers(active, passage, caller)) return undefined;
      return this.passed(passage, () => run(passage.context, query, caller));
    };
  }

  /** Does what the faults of a request do. Returns true where one answered it. */
  private answers(kinds: readonly RequestKind[], passage: Passage, caller: Caller): boolean {
    const subject = this.subjectOf(passage, caller);
    return kinds.some((kind) => {
      const fault = this.parts.faults.match(kind, subject);
      return fault !== undefined && EFFECTS[kind](passage, fault, this.effectParts);
    });
  }

  private passed(
    { context, delay }: Passage,
    run: () => void | Promise<void>,
  ): void | Promise<void> {
    return delay === undefined ? run() : this.delayed(delay, context, run);
  }

  private async delayed(
    fault: Fault,
    context: RequestContext,
    run: () => void | Promise<void>,
  ): Promise<void> {
    // These are read before the first await.
    const bytes = context.body.length + context.path.length + context.address.length;
    const taken = bytes + REQUEST_BYTES;
    if (this.waitingBytes + taken > WAITING_BYTES_MAX) {
      context.reply(503, ENGINE_BUSY, RETRY_SOON);
      return;
    }
    this.waitingBytes += taken;
    try {
      await this.parts.faults.wait(fault);
    } finally {
      this.waitingBytes -= taken;
    }
    await run();
  }

  private subjectOf({ bounds, context }: Passage, caller: Caller): Subject {
    let markets: ReadonlySet<MarketRow | 0> | undefined;
    return {
      key: caller?.apiKey ?? '',
      wallet: caller === undefined ? '' : bytesToHex(caller.address, 0, caller.address.length),
      isOf: (condition) => {
        markets ??= this.marketsOf(context, bounds);
        const market = marketByCondition(this.parts.tables, condition);
        return market !== 0 && markets.has(market);
      },
    };
  }

  /** Markets that a request names in its query or body. */
  private marketsOf(context: RequestContext, bounds: JsonBounds): ReadonlySet<MarketRow | 0> {
    const { tables, texts } = this.parts;
    const markets = new Set<MarketRow | 0>();
    const named = (member: string, text: string): void => {
      if (CONDITION_MEMBERS.has(member)) markets.add(marketByCondition(tables, text));
      if (!TOKEN_MEMBERS.has(member)) return;
      const token = texts.find(text);
      if (token !== 0) markets.add(tokenMarket(tables, token));
    };
    for (const [member, text] of new URLSearchParams(context.query)) named(member, text);
    eachText(parseJson(context.body, bounds), named);
    return markets;
  }
}

/** Calls `see` with each text or number in an object, and in those inside it. */
function eachText(value: unknown, see: (member: string, text: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) {
    if (typeof inner === 'string' || typeof inner === 'number') see(member, String(inner));
    else eachText(inner, see);
  }
}
