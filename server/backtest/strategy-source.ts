/** Validation of a strategy before the run. An unchecked mistake in a member would show only as silence. */
import type { ParameterValues } from './parameters.ts';
import type { Strategy } from './strategy.ts';
import { NoStrategy, StrategyError } from './strategy-error.ts';

/** A strategy, or a function that makes one. The function gets the values of its parameters. */
export type StrategySource = Strategy | ((values: never) => Strategy | Promise<Strategy>);

type Called = {
  [K in keyof Strategy]-?: NonNullable<Strategy[K]> extends (...args: never) => unknown ? K : never;
}[keyof Strategy];

export const FUNCTIONS: Readonly<Record<Called, true>> = {
  onStart: true,
  onMarket: true,
  onBook: true,
  onTrade: true,
  onFill: true,
  onOrder: true,
  onTime: true,
  onResolved: true,
  onEnd: true,
};

export async function strategyOf(
  source: StrategySource,
  name: string,
  values: ParameterValues | undefined,
): Promise<Strategy> {
  if (typeof source !== 'function') return checked(source, 'a strategy');
  let made: unknown;
  try {
    made = await source(values as never);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new StrategyError(`${name}: the function that makes it: ${what}`, { cause: error });
  }
  return checked(made, 'what the function that makes a strategy returns');
}

function checked(value: unknown, what: string): Strategy {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new NoStrategy(`${what} must be an object with functions, not ${shown(value)}`);
  const strategy = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(FUNCTIONS)) {
    const member = strategy[name];
    if (member !== undefined && typeof member !== 'function')
      throw new NoStrategy(`${name} of a strategy must be a function, not ${shown(member)}`);
  }
  const { everyMs, name } = strategy;
  if (name !== undefined && typeof name !== 'string')
    throw new NoStrategy(`name of a strategy must be a text, not ${shown(name)}`);
  if (everyMs !== undefined && !(typeof everyMs === 'number' && everyMs >= 1))
    throw new NoStrategy(`everyMs of a strategy must be 1 or more, not ${shown(everyMs)}`);
  return value;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
