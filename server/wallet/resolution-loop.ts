/**
 * Completes resolutions: sends steps, each in a batch of its own so that orders of other markets go between them,
 * until no market resolves any more. The tables alone determine the next step, so it also continues after a start
 * (docs/ledger.md#resolution).
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandBuffer, encodeResolveStep } from '../../engine/commands.ts';
import { nextResolving } from '../../engine/ledger/reads.ts';
import { RESOLVE_STEP_MAX } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { sendCommands } from '../orders/intake/internal-commands.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';

/** Milliseconds before a refused step is sent again. */
const AGAIN_MS = 20;
const STEP_WORDS = 8;

interface ResolutionParts {
  readonly tables: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly sequencer: Pick<Sequencer, 'submit'>;
  readonly log: (line: string) => void;
}

export class ResolutionLoop {
  private readonly parts: ResolutionParts;
  private running: Promise<void> | undefined;
  private isWanted = false;
  private isClosing = false;

  constructor(parts: ResolutionParts) {
    this.parts = parts;
  }

  wake(): void {
    this.isWanted = true;
    this.running ??= this.run().catch((error: unknown) => {
      this.parts.log(`a resolution stopped: ${String(error)}`);
    });
  }

  /** Ends after the current step; the next start continues. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.running;
  }

  private async run(): Promise<void> {
    const { sequenceLock, tables } = this.parts;
    while (this.isWanted && !this.isClosing) {
      this.isWanted = false;
      for (;;) {
        const market = await sequenceLock.read(() => nextResolving(tables));
        if (market === 0 || this.isClosing || !(await this.step(market))) break;
      }
    }
    this.running = undefined;
  }

  /** Resolves with false if the log has failed and the node ends. */
  private async step(market: MarketRow): Promise<boolean> {
    const out = new CommandBuffer(STEP_WORDS);
    encodeResolveStep(out, market, RESOLVE_STEP_MAX);
    const outcome = await sendCommands(this.parts.sequencer, out.i32.slice(0, out.words));
    if (typeof outcome === 'string') await sleep(AGAIN_MS);
    return outcome !== 'unavailable';
  }
}
