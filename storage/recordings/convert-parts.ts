/** Counts of a conversion under way (convert.ts), and what it was asked for. */
import type { RecordingEntry } from './entries.ts';

export interface ConvertOptions {
  /** Token of an array; without it each token has a file. */
  readonly token?: string | undefined;
  /** Called with the messages and bytes written. */
  readonly onProgress?: (messages: number, bytes: number) => void;
}

export class Parts {
  messages = 0;
  bytes = 0;
  leftOut = 0;
  raised = 0;
  readonly token: string | undefined;
  private readonly onProgress: (messages: number, bytes: number) => void;

  constructor({ onProgress = () => undefined, token }: ConvertOptions) {
    this.token = token;
    this.onProgress = onProgress;
  }

  /** Counts the messages of a batch. */
  written(batch: readonly RecordingEntry[]): void {
    for (const { kind } of batch) {
      if (kind === 'message') this.messages += 1;
      if (kind === 'damaged') this.leftOut += 1;
    }
    this.show();
  }

  show(bytes = this.bytes): void {
    this.bytes = bytes;
    this.onProgress(this.messages, bytes);
  }
}
