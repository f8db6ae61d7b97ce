/**
 * The modules of an engine, of this checkout or of a compiled older one, so that both can run the very
 * same streams in one process. Types are those of this checkout; what an older one lacks is optional.
 */
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as commands from '../../engine/commands.ts';
import * as engine from '../../engine/engine.ts';
import * as events from '../../engine/events.ts';
import * as orders from '../../engine/orders/orders.ts';
import * as layout from '../../engine/tables/layout.ts';
import * as tables from '../../engine/tables/tables.ts';

export interface EngineModules {
  readonly commands: typeof commands;
  readonly engine: typeof engine;
  readonly layout: typeof layout;
  readonly orders: typeof orders;
  readonly tables: typeof tables;
  /** An engine from before there was a log of events has none. */
  readonly events?: typeof events;
}

export const OWN_MODULES: EngineModules = { commands, engine, events, layout, orders, tables };

/** Where a build from before engine/ had rooms keeps the modules that have moved since. */
const OLDER_PATHS = {
  'orders/orders': 'orders',
  'tables/layout': 'layout',
  'tables/tables': 'tables',
} as const;

/** @param folder what an older checkout was compiled to: its dist/ */
export async function olderModules(folder: string): Promise<EngineModules> {
  const pathOf = (name: string): string => join(folder, 'engine', `${name}.js`);
  const load = async (name: string): Promise<Record<string, unknown>> =>
    (await import(pathToFileURL(pathOf(name)).href)) as Record<string, unknown>;
  const moved = (name: keyof typeof OLDER_PATHS): Promise<Record<string, unknown>> =>
    load(existsSync(pathOf(name)) ? name : OLDER_PATHS[name]);
  return {
    commands: (await load('commands')) as unknown as EngineModules['commands'],
    engine: (await load('engine')) as unknown as EngineModules['engine'],
    ...(existsSync(pathOf('events'))
      ? { events: (await load('events')) as unknown as NonNullable<EngineModules['events']> }
      : {}),
    layout: presentNames(await moved('tables/layout')),
    orders: (await moved('orders/orders')) as unknown as EngineModules['orders'],
    tables: (await moved('tables/tables')) as unknown as EngineModules['tables'],
  };
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
    return await olderModules(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Closed orders were called finished. */
function presentNames(older: Record<string, unknown>): EngineModules['layout'] {
  const state = older.State as { readonly closed?: number; readonly finished?: number };
  return {
    ...older,
    State: { ...state, closed: state.closed ?? state.finished },
  } as unknown as EngineModules['layout'];
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
