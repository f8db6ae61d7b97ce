/**
 * Recovery: the newest valid image, then every batch of the journal after it through the very same
 * engine, then the audit. Stops, naming the sequence, at any gap, bad checksum or other digest:
 * a book that might be wrong is worse than a node that is down.
 *
 * Thread: the I/O thread, before workers start and before the port opens.
 */
import { audit } from '../engine/audit.ts';
import { commandWords } from '../engine/commands.ts';
import { Engine } from '../engine/engine.ts';
import { FILL_WORDS, State } from '../engine/layout.ts';
import type { Capacities } from '../engine/limits.ts';
import { Rule } from '../engine/rules.ts';
import { allocateEngine, type EngineMemory, Tables } from '../engine/tables.ts';
import { type BatchRecord, decodeBatch } from './batch-record.ts';
import type { Images } from './images.ts';
import type { JournalTables } from './journal.ts';
import { refit } from './refit.ts';

export interface Recovered {
  readonly memory: EngineMemory;
  readonly engine: Engine;
  /** Number of the image it began with; 0 = none. */
  readonly image: number;
  readonly replayed: number;
}

const TOO_SMALL =
  'a table is full; MARKETS_MAX, TOKENS_MAX, ACCOUNTS_MAX, ORDERS_MAX, LEVELS_MAX and ' +
  'ORDER_HISTORY may grow, but not shrink below what is in use';
const FILL_BYTES = FILL_WORDS * 4;

/**
 * Rebuilds the engine's memory in tables of `capacities`, which may be larger than those of the last
 * run; throws an Error that names what is wrong and where.
 */
export function recover(
  capacities: Capacities,
  images: Images,
  journal: JournalTables,
  warn: (line: string) => void,
): Recovered {
  let t: Tables | undefined;
  let image = 0;
  const reasons: string[] = [];
  for (const info of images.list()) {
    const loaded = images.load(info);
    if (typeof loaded !== 'string') {
      t = loaded;
      image = info.number;
      break;
    }
    reasons.push(`image ${info.number}: ${loaded}`);
    warn(`recovery: image ${info.number} cannot be used: ${loaded}`);
  }
  t = t === undefined ? new Tables(allocateEngine(capacities)) : refit(t, capacities);
  const engine = new Engine(t.memory);
  loadFills(t, journal);
  const replayed = replay(engine, journal, reasons);
  audit(t);
  return { memory: t.memory, engine, image, replayed };
}

/** Refills the ring of fills up to the image's sequence; later fills come from the replay. */
function loadFills(t: Tables, journal: JournalTables): void {
  const end = t.state[State.fills]!;
  let expected = Math.max(0, end - t.capacities.trades);
  const ring = new Uint8Array(t.memory.buffers.fills);
  for (const { key, value } of journal.fills.getRange({ start: expected, end })) {
    if (key !== expected) throw new Error(`recovery: fill ${expected} is missing from the journal`);
    if (value.length !== FILL_BYTES) throw new Error(`recovery: fill ${key} is damaged`);
    ring.set(value, (key % t.fillRows) * FILL_BYTES);
    expected += 1;
  }
  if (expected < end) throw new Error(`recovery: fill ${expected} is missing from the journal`);
}

function replay(engine: Engine, journal: JournalTables, reasons: readonly string[]): number {
  const { t } = engine;
  let replayed = 0;
  const start = t.state[State.batch]! + 1;
  for (const { key, value } of journal.batches.getRange({ start })) {
    const expected = t.state[State.batch]! + 1;
    if (key !== expected) {
      const why = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
      throw new Error(`recovery: batch ${expected} is missing from the journal${why}`);
    }
    const record = decodeBatch(value);
    if (typeof record === 'string') throw new Error(`recovery: batch ${key}: ${record}`);
    applyRecord(engine, record, key);
    replayed += 1;
  }
  return replayed;
}

/** Applies one batch of the journal and holds its outcome against what was recorded. */
function applyRecord(engine: Engine, record: BatchRecord, key: number): void {
  const { t } = engine;
  const wrong = (what: string): Error => new Error(`recovery: batch ${key}: its ${what} differs`);
  if (record.sequence !== key) throw wrong('own sequence');
  if (record.firstFill !== t.state[State.fills]) throw wrong('first fill');
  engine.begin(record.time, record.flushedFinished);
  engine.ahead(record.i32, 0, record.i32.length);
  for (let at = 0; at < record.i32.length; at += commandWords(record.i32, at)) {
    const rule = engine.apply(record.i32, record.f64, at);
    // It found room when it came: the tables are smaller than they were.
    if (rule === Rule.tableFull) throw new Error(`recovery: batch ${key}: ${TOO_SMALL}`);
  }
  engine.end();
  if (t.state[State.batch] !== key) throw wrong('effect');
  if (t.state[State.digest] !== record.digest) throw wrong('digest');
  if (t.state[State.fills] !== record.endFill) throw wrong('last fill');
  if (t.state[State.finished] !== record.endFinished) throw wrong('number of finished orders');
}
