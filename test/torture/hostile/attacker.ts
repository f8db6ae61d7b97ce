/**
 * A process that attacks a node. What it is told by its parent (Orders), it does until its time is up; then
 * it says what it did and ends.
 */
import { type Attacked, type Orders, Target } from './attack.ts';
import { ATTACKS } from './attacks.ts';

process.once('message', (orders: Orders) => {
  const target = new Target(orders);
  const tell = (attacked: Attacked): void => {
    process.send?.(attacked, () => process.exit(0));
  };
  ATTACKS[orders.attack]!.run(target).then(
    () => tell({ did: target.did, answers: target.answers }),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.send?.('ready');
