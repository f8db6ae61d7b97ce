/**
 * The engine alone: no parsing, no signatures, no log. Orders come encoded, with 32-byte ids,
 * accounts and owners' lists, and leave records, fills and a digest, as in a node.
 *
 * Not measured: reading books, rendering, threads.
 */
import { audit } from '../../engine/audit.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import {
  copiedModules,
  type EngineModules,
  OWN_MODULES,
  olderModules,
} from '../common/engine-modules.ts';
import { printGarbage } from '../common/garbage.ts';
import { type Measured, measure, measureBeside, type Task } from '../harness.ts';
import { ACCOUNTS, EngineLoad, type Shape } from './engine-stream.ts';
import { recordStreams, replay } from './replay.ts';

const SEED = 'engine';

/** Each is measured in a process of its own by `npm run bench` (run.ts). */
export const ENGINE_PARTS = ['1', '1000', '10000', 'replay', 'ledger'] as const;
export type EnginePart = (typeof ENGINE_PARTS)[number];

const ONE: Shape = { books: 1, grid: 10_000 };
const THOUSAND: Shape = { books: 1_000, grid: 100 };
const TEN_THOUSAND: Shape = { books: 10_000, grid: 100 };
/** Shape of a ledger with 200,000 positions. */
const HUNDRED: Shape = { books: 100, grid: 100 };
const SHAPES = { 1: ONE, 1000: THOUSAND, 10000: TEN_THOUSAND } as const;

export interface EngineOptions {
  /** Books of the streams, or the replay; without it all. */
  readonly part?: EnginePart;
  /** Messages of a block. */
  readonly messages: number;
  readonly blocks: number;
  /** Compiled modules of an older checkout: the mixed streams run beside it, and nothing else is measured. */
  readonly baseline?: string;
}

export async function engineSuite(options: EngineOptions): Promise<Measured[]> {
  const { baseline, blocks, messages, part } = options;
  const older = baseline === undefined ? undefined : await olderModules(baseline);
  const measured: Measured[] = [];
  for (const each of part === undefined ? ENGINE_PARTS : [part]) {
    if (each === 'ledger') {
      for (const shape of [ONE, HUNDRED]) {
        const rows =
          older === undefined
            ? await ledgerOf(shape, options)
            : mixedBeside(shape, options, older, true);
        measured.push(...rows);
      }
      continue;
    }
    if (each === 'replay') {
      if (older === undefined) measured.push(...(await replayOf(ONE, messages, blocks)));
      continue;
    }
    const shape = SHAPES[each];
    if (older !== undefined) measured.push(...mixedBeside(shape, options, older));
    else if (shape === TEN_THOUSAND) measured.push(...(await mixedOf(shape, messages, blocks)));
    else measured.push(...(await suiteOf(shape, messages, blocks)));
  }
  return measured;
}

function capacitiesOf(shape: Shape, messages: number): Capacities {
  return {
    markets: shape.books,
    tokens: 2 * shape.books,
    accounts: 2_000,
    orders: messages + 1,
    levels: shape.books * (shape.grid + 512),
    trades: 65_536,
    history: 32_768,
    positions: 0,
    operatorIds: 0,
  };
}

function labelOf(shape: Shape, what: string): string {
  return `${what}, ${shape.books} books of ${shape.grid - 1} ticks`;
}

/** An engine with what the blocks of one shape apply to it, drawn in a fixed order. */
function mixedTask(load: EngineLoad, shape: Shape, messages: number): Required<Task> {
  const mixed = load.mixed(messages);
  return {
    name: labelOf(shape, 'mixed'),
    messages: mixed.messages,
    before: () => {
      load.clear();
      load.reset(mixed);
    },
    run: () => load.apply(mixed.commands),
  };
}

/** Runs a mixed stream on this engine and on an older one, alternately. */
function mixedBeside(
  shape: Shape,
  { blocks, messages }: EngineOptions,
  older: EngineModules,
  hasLedger = false,
): Measured[] {
  const capacities = hasLedger ? ledgerCapacities(shape, messages) : capacitiesOf(shape, messages);
  const tasks = [OWN_MODULES, older].map((modules) => {
    const load = new EngineLoad(shape, capacities, SEED, modules, hasLedger);
    return mixedTask(load, shape, messages);
  });
  return measureBeside(tasks[0]!, tasks[1]!, blocks);
}

function ledgerCapacities(shape: Shape, messages: number): Capacities {
  // Every account in both tokens of each market: the table is half full, as that of the accounts.
  return { ...capacitiesOf(shape, messages), positions: 4 * shape.books * ACCOUNTS };
}

/** The mixed stream with a ledger, in turns with an engine that has none. */
async function ledgerOf(shape: Shape, { blocks, messages }: EngineOptions): Promise<Measured[]> {
  const without = capacitiesOf(shape, messages);
  const capacities = ledgerCapacities(shape, messages);
  const load = new EngineLoad(shape, capacities, SEED, await copiedModules(), true);
  const mixed = { ...mixedTask(load, shape, messages), name: labelOf(shape, 'mixed, ledger') };
  const bare = mixedTask(
    new EngineLoad(shape, without, SEED, await copiedModules()),
    shape,
    messages,
  );
  const measured = measureBeside(mixed, bare, blocks, 'without');
  // How often garbage is measured differs, and with it what everybody has.
  printState(load);
  await printGarbage(mixed.messages, mixed.before, mixed.run);
  return measured;
}

function printState(load: EngineLoad): void {
  audit(load.engine.t);
  process.stdout.write(`  state hash ${stateHash(load.engine.t)}\n`);
}

/** Every task on books of one shape. */
async function suiteOf(shape: Shape, messages: number, blocks: number): Promise<Measured[]> {
  const load = new EngineLoad(shape, capacitiesOf(shape, messages), SEED);
  const adds = load.adds(messages);
  const cancels = load.cancels(adds);
  load.clear();
  const deep = load.adds(messages);
  const foks = load.foks(messages / 2);
  load.clear();
  const mixed = mixedTask(load, shape, messages);
  const fresh = (): void => {
    load.clear();
    load.reset(adds);
  };
  const measured = await measure([mixed], blocks);
  await printGarbage(mixed.messages, mixed.before, mixed.run);
  measured.push(
    ...(await measure(
      [
        {
          name: labelOf(shape, 'add'),
          messages: adds.messages,
          before: fresh,
          run: () => load.apply(adds.commands),
        },
        {
          name: labelOf(shape, 'cancel'),
          messages: cancels.messages,
          before: () => {
            fresh();
            load.follow(cancels);
            load.apply(adds.commands);
          },
          run: () => load.apply(cancels.commands),
        },
        {
          name: labelOf(shape, 'fok'),
          messages: foks.messages,
          before: () => {
            load.clear();
            load.reset(deep);
            load.apply(deep.commands);
            load.reset(foks);
          },
          run: () => load.apply(foks.commands),
        },
      ],
      blocks,
    )),
  );
  printState(load);
  return measured;
}

async function mixedOf(shape: Shape, messages: number, blocks: number): Promise<Measured[]> {
  const load = new EngineLoad(shape, capacitiesOf(shape, messages), SEED);
  const mixed = mixedTask(load, shape, messages);
  const measured = await measure([mixed], blocks);
  printState(load);
  return measured;
}

/** Counts commands, not messages, because that is what records hold. */
async function replayOf(shape: Shape, messages: number, blocks: number): Promise<Measured[]> {
  const capacities = capacitiesOf(shape, messages);
  const load = new EngineLoad(shape, capacities, SEED);
  const { commands } = load.mixed(messages);
  const recording = recordStreams(capacities, [load.markets, commands]);
  const run = (): void => replay(recording);
  const name = labelOf(shape, 'replay, commands');
  return measure([{ name, messages: recording.commands, run }], blocks);
}
