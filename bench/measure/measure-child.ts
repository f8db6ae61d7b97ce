/**
 * The sending process: does what the parent says, and ends with it.
 * Thread: its only one, and the pacer's.
 */
import type { FromChild, ToChild } from './job.ts';
import { Sending } from './sending.ts';

let sending: Sending | undefined;

function tell(message: FromChild): void {
  process.send!(message);
}

async function obey(message: ToChild): Promise<void> {
  if (message.kind === 'prepare') {
    sending = new Sending(message.job, tell);
    await sending.prepare();
  } else {
    await sending!.send(message.startMs);
  }
}

process.once('disconnect', () => process.exit(0));
process.on('message', (message: ToChild) => {
  obey(message).catch((error: unknown) => {
    tell({ kind: 'failed', problem: error instanceof Error ? error.message : String(error) });
  });
});
