/**
 * Completes resolutions and ends of seasons: sends steps, each in a batch of its own so that orders of other markets go
 * between them, until nothing is left to do. The tables alone determine the next step, so it also continues after a
 * start (docs/ledger.md#resolution, docs/ledger.md#seasons).
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandBuffer, encodeResolveStep, encodeSeasonStep } from '../../engine/commands.ts';
import { nextResolving } from '../../engine/ledger/reads.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import { RESOLVE_STEP_MAX } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { sendCommands } from '../orders/intake/internal-commands.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';

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
        const step = await sequenceLock.read(() => nextStep(tables));
        if (step === undefined || this.isClosing || !(await this.send(step))) break;
      }
    }
    this.running = undefined;
  }

  /** Resolves with false if the log has failed and the node ends. */
  private async send(step: Int32Array): Promise<boolean> {
    const outcome = await sendCommands(this.parts.sequencer, step);
    if (typeof outcome === 'string') await sleep(AGAIN_MS);
    return outcome !== 'unavailable';
  }
}

function nextStep(tables: Tables): Int32Array | undefined {
  const out = new CommandBuffer(STEP_WORDS);
  const market = nextResolving(tables);
  if (market !== 0) encodeResolveStep(out, market, RESOLVE_STEP_MAX);
  else if (seasonIsEnding(tables)) encodeSeasonStep(out, RESOLVE_STEP_MAX);
  else return undefined;
  return out.i32.slice(0, out.words);
}
