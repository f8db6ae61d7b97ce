/**
 * The public form of a recording: one message of a market channel a line, without header and catalog. What is
 * missing is worked out of the messages in a first pass:
 *
 *   markets     each name in `market`, with the tokens in the order in which they come: the first one is the first
 *               outcome; a second one that never comes gets an id derived from the first one's
 *   ticks       that before the first `tick_size_change`; without one the coarsest from 0.01 that has every price
 *   prints      where there is no `last_trade_price`, trades are inferred
 *   time        that of each message, never less than that of the one before it
 *
 * Thread: any. Non-goals: names of outcomes, which no message has.
 */
import { createHash } from 'node:crypto';
import type { SourceLevel } from '../../engine/paper/source-book.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { isObject, type JsonObject } from '../catalog/catalog-json.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';
import { understoodEvents } from './source-message.ts';

interface Found {
  readonly tokens: string[];
  /** The coarsest grid from 100 on that has its prices. */
  ticksPerUnit: number;
  /** Before the first change; undefined = it has none. */
  tick: string | undefined;
  hasPrints: boolean;
  first: number;
}

/** Entries of the lines of a file, a batch at a time. A last line that is not whole is left out. */
export async function* publicEntries(
  batches: AsyncIterable<readonly string[]>,
  path: string,
): AsyncGenerator<RecordingEntry[]> {
  let number = 0;
  let at = 0;
  let broken = 0;
  for await (const lines of batches) {
    const entries: RecordingEntry[] = [];
    for (const line of lines) {
      number += 1;
      if (broken > 0) throw new RecordingDamaged(`${path}: line ${broken} is no JSON`);
      const messages = line.trim() === '' ? [] : parsed(line);
      if (messages === undefined) broken = number;
      for (const message of messages ?? []) {
        if (!isObject(message)) {
          throw new RecordingDamaged(`${path}: line ${number} is no message`);
        }
        const { timestamp } = message;
        if (!/^\d+$/.test(String(timestamp))) {
          throw new RecordingDamaged(`${path}: line ${number} has no timestamp`);
        }
        at = Math.max(at, Number(timestamp));
        entries.push({ at, kind: 'message', message });
      }
    }
    yield entries;
  }
}

function parsed(line: string): readonly unknown[] | undefined {
  try {
    const json: unknown = JSON.parse(line);
    // A venue may send several at once.
    return Array.isArray(json) ? json : [json];
  } catch {
    return undefined;
  }
}

export interface Survey {
  readonly started: number;
  readonly markets: readonly string[];
  readonly inferred: readonly string[];
  readonly events: readonly JsonObject[];
}

/** The first pass. */
export async function surveyOf(batches: AsyncIterable<readonly RecordingEntry[]>): Promise<Survey> {
  const found = new Map<string, Found>();
  let started = 0;
  for await (const entries of batches) {
    for (const entry of entries) {
      if (entry.kind !== 'message') continue;
      if (started === 0) started = entry.at;
      note(found, entry.message, entry.at);
    }
  }
  const all = [...found].filter(([, { tokens }]) => tokens.length > 0);
  return {
    started,
    markets: all.map(([name]) => name),
    inferred: all.filter(([, { hasPrints }]) => !hasPrints).map(([, { tokens }]) => tokens[0]!),
    events: all.map(([name, market], index) => eventOf(name, market, index)),
  };
}

function newMarket(first: number): Found {
  return { tokens: [], ticksPerUnit: 100, tick: undefined, hasPrints: false, first };
}

function note(found: Map<string, Found>, message: JsonObject, at: number): void {
  const { market: name, old_tick_size: oldTick } = message;
  if (typeof name !== 'string') return;
  const market = found.get(name) ?? newMarket(at);
  found.set(name, market);
  // Who reads the entries counts what is damaged.
  for (const event of understoodEvents(message, () => undefined)) {
    if (event.kind === 'tick') {
      if (typeof oldTick === 'string') market.tick ??= oldTick;
    } else if ('token' in event) {
      if (!market.tokens.includes(event.token)) market.tokens.push(event.token);
      if (event.kind === 'print') market.hasPrints = true;
      else if (event.kind === 'changes') measure(market, event.changes);
      else for (const levels of [event.bids, event.asks]) measure(market, levels);
    }
  }
}

function measure(market: Found, levels: readonly SourceLevel[]): void {
  for (const { pips } of levels) {
    while (pips % (PIPS_PER_UNIT / market.ticksPerUnit) !== 0) market.ticksPerUnit *= 10;
  }
}

function eventOf(
  name: string,
  { first, tick, ticksPerUnit, tokens }: Found,
  index: number,
): JsonObject {
  const id = String(index + 1);
  const title = titleOf(name);
  const startDate = new Date(first).toISOString();
  const market = {
    id,
    question: title,
    slug: slugOf(name),
    conditionId: conditionOf(name),
    outcomes: ['First', 'Second'],
    clobTokenIds: [tokens[0]!, tokens[1] ?? derivedToken(tokens[0]!)],
    orderPriceMinTickSize: tick ?? String(1 / ticksPerUnit),
    orderMinSize: 5,
    startDate,
    active: true,
  };
  return { id, title, slug: slugOf(name), startDate, active: true, markets: [market] };
}

/** What a catalog would call it: messages name a market by its condition id, or as they like. */
function conditionOf(name: string): string {
  return /^0x[0-9a-f]{64}$/i.test(name) ? name : `0x${sha256(name).toString('hex')}`;
}

/** The id of a second token that no message names. */
function derivedToken(first: string): string {
  return BigInt(`0x${sha256(`complement of ${first}`).toString('hex')}`).toString();
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function slugOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function titleOf(name: string): string {
  return name.startsWith('0x') ? `Market ${name.slice(0, 10)}` : name;
}
