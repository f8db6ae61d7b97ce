/**
 * The modules of an engine, of this checkout or of a compiled older one, so that both can run the very
 * same streams in one process. Types are those of this checkout; what an older one lacks is optional.
 */
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as commands from '../../engine/commands.ts';
import * as engine from '../../engine/engine.ts';
import * as events from '../../engine/events.ts';
import * as orders from '../../engine/orders/orders.ts';
import { closedCount } from '../../engine/reads.ts';
import * as tables from '../../engine/tables/tables.ts';

export interface EngineModules {
  readonly commands: typeof commands;
  readonly engine: typeof engine;
  readonly orders: typeof orders;
  readonly tables: typeof tables;
  /** Orders ever closed. */
  readonly closedCount: typeof closedCount;
  /** An engine from before there was a log of events has none. */
  readonly events?: typeof events;
}

export const OWN_MODULES: EngineModules = { closedCount, commands, engine, events, orders, tables };

/** Paths of modules in a build from before engine/ had folders. */
const OLDER_PATHS = {
  'orders/orders': 'orders',
  'tables/layout': 'layout',
  'tables/tables': 'tables',
} as const;

/** @param folder what an older checkout was compiled to: its dist/ */
export function olderModules(folder: string): Promise<EngineModules> {
  return modulesIn(folder, '.js');
}

/** @param extension of the files: of sources under a loader it is another one */
async function modulesIn(folder: string, extension: string): Promise<EngineModules> {
  const pathOf = (name: string): string => join(folder, 'engine', `${name}${extension}`);
  const load = async (name: string): Promise<unknown> =>
    import(pathToFileURL(pathOf(name)).href) as Promise<unknown>;
  const moved = (name: keyof typeof OLDER_PATHS): Promise<unknown> =>
    load(existsSync(pathOf(name)) ? name : OLDER_PATHS[name]);
  const { State } = (await moved('tables/layout')) as { readonly State: Record<string, number> };
  // Closed orders were called finished. Other columns that are read here have never moved.
  const closed = State.closed ?? State.finished!;
  return {
    closedCount: ({ state }) => state[closed]!,
    commands: (await load('commands')) as EngineModules['commands'],
    engine: (await load('engine')) as EngineModules['engine'],
    ...(existsSync(pathOf('events')) ? { events: eventsOf(await load('events')) } : {}),
    orders: (await moved('orders/orders')) as EngineModules['orders'],
    tables: (await moved('tables/tables')) as EngineModules['tables'],
  };
}

/** The buffer of events was called a log. */
function eventsOf(module: unknown): typeof events {
  const { EventLog } = module as { readonly EventLog?: typeof events.EventBuffer };
  const found = module as typeof events;
  return EventLog === undefined ? found : { ...found, EventBuffer: EventLog };
}

/**
 * The modules of this checkout a second time: the compiler takes the tables of the first engine of a module for
 * constants, so two engines that are measured beside one another need a copy each.
 */
export async function copiedModules(): Promise<EngineModules> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-copy-'));
  try {
    cpSync(join(import.meta.dirname, '../../engine'), join(folder, 'engine'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    return await modulesIn(folder, extname(import.meta.filename));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A command that takes out all orders of an owner, newest first. */
export function encodeClearing(
  modules: EngineModules,
  out: commands.CommandBuffer,
  signer: Int32Array,
  orders: number,
): void {
  const { encodeCancelOwner } = modules.commands;
  const all = { limit: orders, from: 0, newest: Number.MAX_SAFE_INTEGER } as const;
  if (encodeCancelOwner.length === 2) {
    encodeCancelOwner(out, { signer, market: 0, token: 0, ...all });
    return;
  }
  // A build from before it was bounded takes its fields one by one.
  type Older = (
    out: commands.CommandBuffer,
    signer: Int32Array,
    market: number,
    token: number,
  ) => number;
  (encodeCancelOwner as unknown as Older)(out, signer, 0, 0);
}
