/**
 * The modules of an engine, of this checkout or of a compiled older one, so that both can run the very
 * same streams in one process. Types are those of this checkout; what an older one lacks is optional.
 */
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

/** @param folder what an older checkout was compiled to: its dist/ */
export async function olderModules(folder: string): Promise<EngineModules> {
  const load = (name: string): Promise<unknown> =>
    import(pathToFileURL(join(folder, 'engine', `${name}.js`)).href);
  return {
    commands: (await load('commands')) as EngineModules['commands'],
    engine: (await load('engine')) as EngineModules['engine'],
    layout: (await load('layout')) as EngineModules['layout'],
    orders: (await load('orders')) as EngineModules['orders'],
    tables: (await load('tables')) as EngineModules['tables'],
  };
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
