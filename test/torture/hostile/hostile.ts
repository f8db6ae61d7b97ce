/**
 * One client against all others: a node with its default settings, a well-behaved client, and every
 * attack of attacks.ts by a process with an address of its own. The node withstands an attack when
 * the client's orders keep their p99 and none of its requests is refused. Afterwards the node must
 * hold no more than before, and accept orders.
 *
 * The short form runs an attack for each mechanism, some seconds each. Quiet stretches lie between
 * the attacks, so that an attack is compared with the machine's own variation.
 */
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { useCompiledNodes } from '../../common/forms.ts';
import { temporaryDirectory } from '../../common/node-harness.ts';
import type { Done, PartOptions } from '../part.ts';
import type { Assignment, Attacked } from './attack.ts';
import { ATTACKS } from './attacks.ts';
import { Child } from './children.ts';
import type { GoodTask, Stretch } from './good-client.ts';
import { type Held, HostileNode } from './hostile-node.ts';
import {
  boundOf,
  gainProblem,
  heldProblem,
  type Latency,
  latencyProblem,
  lateProblem,
  MIB,
  memoryProblem,
  middleP99,
  p99,
  refusalProblem,
} from './verdict.ts';

interface Form {
  readonly attackSeconds: number;
  readonly quietSeconds: number;
  readonly settleSeconds: number;
}

const LONG: Form = { attackSeconds: 30, quietSeconds: 6, settleSeconds: 15 };
// A machine that does other things as well needs longer to be done with what the attacker has left.
const SHORT: Form = { attackSeconds: 3, quietSeconds: 1, settleSeconds: 30 };
/** Minutes below which the short form runs. */
const LONG_MINUTES_MIN = 10;
const MS_PER_MINUTE = 60_000;
const WARM_SECONDS = 3;
/** Number of quiet stretches with which an attack is compared. */
const QUIET_KEPT = 5;
const SETTLE_MS = 250;
const START_MS_MAX = 120_000;
const STRETCH_MS_MAX = 60_000;
/** An attacker ends by itself, or is ended: a process of the lowest priority may be late. */
const ATTACKER_LATE_MS = 60_000;
const GOOD_ADDRESS = '127.0.0.2';

export const ATTACKS_COUNT = Object.keys(ATTACKS).length;

/** Runs attacks; the goal counts them. */
export async function hostile(options: PartOptions): Promise<Done> {
  const isShort = options.milliseconds < LONG_MINUTES_MIN * MS_PER_MINUTE;
  const chosen = Object.keys(ATTACKS).filter((name) =>
    options.only === undefined
      ? !isShort || ATTACKS[name]!.isShort === true
      : options.only.includes(name),
  );
  const unknown = options.only?.filter((name) => ATTACKS[name] === undefined) ?? [];
  if (unknown.length > 0) throw new Error(`no such attack: ${unknown.join(', ')}`);
  const scene = new Scene(isShort ? SHORT : LONG, options);
  const failed: string[] = [];
  try {
    for (const name of chosen) {
      const first = await scene.bear(name);
      const { problems } = first.mayBeChance ? await scene.bear(name) : first;
      if (problems.length > 0) failed.push(name);
    }
  } finally {
    await scene.end();
  }
  if (failed.length > 0) {
    throw new Error(
      `${failed.length} of ${chosen.length} attacks hurt others: ${failed.join(', ')}`,
    );
  }
  return { count: chosen.length, text: `${chosen.length} attacks, borne` };
}

interface Outcome {
  readonly problems: readonly string[];
  /**
   * True when slowness and growth are the only problems, which must show twice: others disturb the
   * machine for seconds now and then, and memory of pools and heaps is taken only once.
   */
  readonly mayBeChance: boolean;
}

class Scene {
  private readonly form: Form;
  private readonly o: PartOptions;
  private readonly bare: Child;
  private barePort = 0;
  private node: HostileNode | undefined = undefined;
  private good: Child | undefined = undefined;
  /** Order latencies of quiet stretches, newest last. */
  private quiet: (readonly number[])[] = [];
  private attackers = 0;

  constructor(form: Form, options: PartOptions) {
    useCompiledNodes();
    this.form = form;
    this.o = options;
    this.bare = new Child('bare-answer', [join(temporaryDirectory(), 'bare')]);
  }

  async bear(name: string): Promise<Outcome> {
    const { attackSeconds, quietSeconds } = this.form;
    const node = await this.ready();
    // What it takes of a processor itself must not look like what the node suffers.
    const attacker = new Child('attacker', [], constants.priority.PRIORITY_LOW);
    try {
      await this.stretch();
      await Promise.all([attacker.next(START_MS_MAX), sleep(quietSeconds * 1_000)]);
      const quiet = await this.stretch();
      if (quiet.wrong.length > 0) throw new Error(`while quiet: ${quiet.wrong[0]}`);
      this.quiet = [...this.quiet, quiet.orders].slice(-QUIET_KEPT);
      await node.collect();
      const before = await node.held();
      // What the collection took is no part of what the attack does.
      await this.stretch();
      const done = attacker.next<Attacked>(attackSeconds * 1_000 + ATTACKER_LATE_MS);
      attacker.send(this.assignmentOf(name, node));
      const attacked = await done;
      const under = await this.stretch();
      const latency: Latency = {
        quiet: middleP99(this.quiet),
        under: p99(under.orders),
        bare: p99(under.bare),
        isShort: this.form === SHORT,
      };
      const gain = gainProblem(ATTACKS[name]!, attacked, before, await node.held());
      const after = await this.aftermath(node, before);
      const chances = [latencyProblem(latency), lateProblem(under), memoryProblem(before, after)];
      const others = [gain, refusalProblem(under), heldProblem(before, after)];
      const problems = [...chances, ...others].filter((problem) => problem !== undefined);
      this.tell(name, problems, figures(latency, attacked, before, after));
      const isChance = others.every((problem) => problem === undefined);
      return { problems, mayBeChance: isChance && problems.length > 0 };
    } catch (error) {
      const why = node.hasEnded ? `the node ended with ${node.ending}` : (error as Error).message;
      await this.leave();
      this.tell(name, [why], '');
      return { problems: [why], mayBeChance: false };
    } finally {
      attacker.end();
    }
  }

  async end(): Promise<void> {
    await this.leave();
    this.bare.end();
  }

  private assignmentOf(attack: string, node: HostileNode): Assignment {
    this.attackers += 1;
    return {
      attack,
      port: node.port,
      adminPort: node.adminPort,
      address: `127.0.1.${this.attackers}`,
      seconds: this.form.attackSeconds,
      seed: this.o.seed,
      markets: node.markets.slice(1),
    };
  }

  /** Measurements of the node once they are no more than before, or after the longest wait. */
  private async aftermath(node: HostileNode, before: Held): Promise<Held> {
    const deadline = performance.now() + this.form.settleSeconds * 1_000;
    for (;;) {
      const after = await node.held();
      const isMore = memoryProblem(before, after) !== undefined;
      const isBack = !isMore && heldProblem(before, after) === undefined;
      if (isBack || performance.now() > deadline) return after;
      if (isMore) await node.collect();
      await sleep(SETTLE_MS);
    }
  }

  private tell(name: string, problems: readonly string[], text: string): void {
    const verdict = problems.length === 0 ? 'borne' : `FAILED: ${problems.join('; ')}`;
    this.o.say(`${name}: ${verdict}${text === '' ? '' : ` (${text})`}`);
  }

  private async stretch(): Promise<Stretch> {
    const told = this.good!.next<Stretch>(STRETCH_MS_MAX);
    this.good!.send({});
    return await told;
  }

  private async ready(): Promise<HostileNode> {
    if (this.node !== undefined && !this.node.hasEnded) return this.node;
    await this.leave();
    this.barePort ||= await this.bare.next<number>(START_MS_MAX);
    const node = await HostileNode.start();
    this.node = node;
    this.good = new Child('good-client', []);
    const market = node.markets[0]!;
    const { barePort } = this;
    const task: GoodTask = { port: node.port, barePort, address: GOOD_ADDRESS, market };
    const started = this.good.next(START_MS_MAX);
    this.good.send(task);
    await started;
    await sleep(WARM_SECONDS * 1_000);
    await this.stretch();
    return node;
  }

  private async leave(): Promise<void> {
    this.good?.end();
    this.good = undefined;
    await this.node?.end();
    this.node = undefined;
  }
}

function figures(latency: Latency, { answers, did }: Attacked, before: Held, after: Held): string {
  const { bare, quiet, under } = latency;
  const mib = (held: Held): string => (held.residentBytes / MIB).toFixed(0);
  const ms = (value: number): string => value.toFixed(1);
  const often = Object.entries(answers).map(([what, count]) => `${what} ${count}`);
  return (
    `p99 ${ms(quiet)} to ${ms(under)} ms, bare ${ms(bare)}, bound ${ms(boundOf(latency))}; ` +
    `${mib(before)} to ${mib(after)} MiB; did ${did}: ${often.join(', ')}`
  );
}
