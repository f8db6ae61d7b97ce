/**
 * `npm run bench -- ledger`: what a ledger costs a whole node at saturation. Two nodes take turns: one
 * with LEDGER=on beside one without, or with `--baseline DIR` one without beside that of an older checkout.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ratio } from '../common/figures.ts';
import {
  openSide,
  programOf,
  type Side,
  type SideOptions,
  sideRatios,
  takeTurns,
} from './node-sides.ts';

export interface LedgerShape {
  readonly rounds: number;
  /** Orders of a burst, signed and not. */
  readonly signed: number;
  readonly unsigned: number;
  readonly baseline?: string;
  /** Settings of the nodes, beside those of the suite. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const LEDGER_FULL: LedgerShape = { rounds: 9, signed: 9_000, unsigned: 30_000 };

const BATCH = 15;
const AIM = 0.97;
/** More than the orders of a wallet can need, and complete sets of every market. */
const LEDGER = { LEDGER: 'on', FAUCET: '400000000' };

export async function ledgerSuite(shape: LedgerShape): Promise<readonly Ratio[]> {
  const { baseline } = shape;
  const off: SideOptions = { name: 'without a ledger', environment: {} };
  const on: SideOptions = { name: 'with a ledger', environment: LEDGER, hasLedger: true };
  const older = { name: 'baseline', environment: {} };
  const sides =
    baseline === undefined
      ? ([off, on] as const)
      : ([{ ...older, main: programOf(baseline) }, off] as const);
  return [...(await compare(shape, sides, false)), ...(await compare(shape, sides, true))];
}

async function compare(
  { environment, rounds, signed, unsigned: many }: LedgerShape,
  options: readonly [SideOptions, SideOptions],
  unsigned: boolean,
): Promise<readonly Ratio[]> {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-bench-'));
  const turns = { rounds, orders: unsigned ? many : signed, batch: BATCH, unsigned };
  const sides: Side[] = [];
  try {
    for (const side of options) {
      const name = `${unsigned ? 'unsigned' : 'signed'} batches of ${BATCH}, ${side.name}`;
      const all = { ...environment, ...side.environment };
      sides.push(await openSide(directory, { ...side, name, environment: all }, turns));
    }
    const both = sides as [Side, Side];
    await takeTurns(both, turns);
    return sideRatios(both, AIM);
  } finally {
    for (const { node } of sides) await node.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
