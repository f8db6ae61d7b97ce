/** The parts of `npm run torture`, in the order in which it runs them. */
import { input } from './input.ts';
import { interleavings } from './interleavings.ts';
import { kills } from './kills.ts';
import { model } from './model.ts';
import type { PartRun } from './part.ts';
import { simulate } from './simulate.ts';

interface Part {
  readonly does: string;
  /** What the long form does, in the unit of the part. */
  readonly goal: number;
  /** When it ends although the goal is not reached: all of them together are an hour. */
  readonly minutes: number;
  readonly run: PartRun;
}

export const PARTS: Readonly<Record<string, Part>> = {
  simulation: {
    does: 'engine, log, follower and recovery on a simulated disk; a crash at every change of it',
    goal: 60_000,
    minutes: 10,
    run: simulate,
  },
  kills: {
    does: 'kill -9 under load, while images, segments and catalogs change; books of what was told',
    goal: 500,
    minutes: 12,
    run: kills,
  },
  interleavings: {
    does: 'eight workers held up at every atomic step; order of tickets, whole books',
    goal: 3_000,
    minutes: 4,
    run: interleavings,
  },
  input: {
    does: 'generated requests of all routes and messages of all streams, from the schemas in code',
    goal: 120_000,
    minutes: 4,
    run: input,
  },
  model: {
    does: 'naive exchange against engine, audit after every thousandth command',
    goal: 20_000_000,
    minutes: 12,
    run: model,
  },
};
