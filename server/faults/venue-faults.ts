/**
 * Faults of the whole venue as control records of the log: at most one of each kind.
 *
 * Thread: I/O. Not here: their effect (faults.ts), which a node with FAULTS=off leaves out.
 */
import type {
  ControlRecord,
  FaultDecision,
} from '../../storage/control-records/control-records.ts';

export class VenueFaults {
  /** Called for each durable record. */
  onChange: (kind: string, decision: FaultDecision | undefined) => void = () => undefined;
  private readonly write: (record: ControlRecord) => Promise<void>;
  private readonly decisions = new Map<string, FaultDecision>();

  /** @param write resolves once a control record is durable and was taken here */
  constructor(write: (record: ControlRecord) => Promise<void>) {
    this.write = write;
  }

  /** Takes what is durable; without a decision the fault ends. */
  take(kind: string, decision: FaultDecision | undefined): void {
    if (decision === undefined) this.decisions.delete(kind);
    else this.decisions.set(kind, decision);
    this.onChange(kind, decision);
  }

  list(): readonly (readonly [kind: string, decision: FaultDecision])[] {
    return [...this.decisions];
  }

  /** Resolves once it is durable and in force. */
  put(kind: string, decision: FaultDecision | undefined): Promise<void> {
    return this.write({ about: 'fault', kind, decision });
  }
}
