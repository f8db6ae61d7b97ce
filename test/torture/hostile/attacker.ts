/**
 * A process that attacks a node by an Assignment of its parent until its time is up, then reports
 * and ends.
 */
import { type Assignment, type Attacked, Target } from './attack.ts';
import { ATTACKS } from './attacks.ts';

process.once('message', (assignment: Assignment) => {
  const target = new Target(assignment);
  // While all connections are closed nothing else keeps the process running.
  process.channel?.ref();
  const tell = (attacked: Attacked): void => {
    process.send?.(attacked, () => process.exit(0));
  };
  ATTACKS[assignment.attack]!.run(target).then(
    () => tell({ did: target.did, answers: target.answers }),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.send?.('ready');
