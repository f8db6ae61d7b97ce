/**
 * One client against all others: a node with its default settings, a well-behaved client, and every attack of
 * attacks.ts by a process with an address of its own. An attack is borne when the client's orders keep their
 * p99 and nothing is refused to it, and when afterwards the node holds what it held before and takes orders.
 *
 * The short form runs an attack for each mechanism, some seconds each. Quiet stretches lie between the
 * attacks, so that the machine's own ups and downs are in what an attack is compared with.
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
const SHORT: Form = { attackSeconds: 3, quietSeconds: 1, settleSeconds: 5 };
/** Who gives it less time gets the short form. */
const LONG_MINUTES_MIN = 10;
const MS_PER_MINUTE = 60_000;
const WARM_SECONDS = 3;
/** Quiet stretches that an attack is compared with. */
const QUIET_KEPT = 5;
const SETTLE_MS = 250;
const START_MS_MAX = 30_000;
const STRETCH_MS_MAX = 40_000;
/** An attacker ends by itself, or is ended. */
const ATTACKER_LATE_MS = 20_000;
const GOOD_ADDRESS = '127.0.0.2';

/** How many attacks the long form has. */
export const ATTACKS_COUNT = Object.keys(ATTACKS).length;

/** The goal is attacks. */
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
      // Others disturb the machine for seconds now and then: slowness alone has to show twice.
      const { problems } = first.isSlowAlone ? await scene.bear(name) : first;
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
  /** The latency is all that is wrong. */
  readonly isSlowAlone: boolean;
}

class Scene {
  private readonly form: Form;
  private readonly o: PartOptions;
  private readonly bare: Child;
  private barePort = 0;
  private node: HostileNode | undefined = undefined;
  private good: Child | undefined = undefined;
  /** Of orders, newest last. */
  private quiet: (readonly number[])[] = [];
  private attackers = 0;

  constructor(form: Form, options: PartOptions) {
    useCompiledNodes();
    this.form = form;
    this.o = options;
    this.bare = new Child('bare-answer', [join(temporaryDirectory(), 'bare')]);
  }

  /** Runs an attack, and tells what came of it. */
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
      const before = await node.held();
      this.quiet = [...this.quiet, quiet.orders].slice(-QUIET_KEPT);
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
      const slow = latencyProblem(latency);
      const others = [
        gainProblem(ATTACKS[name]!, attacked, before, await node.held()),
        refusalProblem(under),
        ...(await this.aftermath(node, before)),
      ].filter((problem) => problem !== undefined);
      const problems = slow === undefined ? others : [slow, ...others];
      this.tell(name, problems, figures(latency, attacked));
      return { problems, isSlowAlone: slow !== undefined && others.length === 0 };
    } catch (error) {
      const why = node.hasEnded ? `the node ended with ${node.ending}` : (error as Error).message;
      await this.leave();
      this.tell(name, [why], '');
      return { problems: [why], isSlowAlone: false };
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

  /** Waits until the node holds no more than before; tells what it still holds, and whether it is well. */
  private async aftermath(
    node: HostileNode,
    before: Held,
  ): Promise<readonly (string | undefined)[]> {
    const deadline = performance.now() + this.form.settleSeconds * 1_000;
    let problem = heldProblem(before, await node.held());
    while (problem !== undefined && !node.hasEnded && performance.now() < deadline) {
      await sleep(SETTLE_MS);
      problem = heldProblem(before, await node.held());
    }
    if (node.hasEnded) throw new Error('the node ended');
    const status = await node.readyStatus();
    return [problem, status === 200 ? undefined : `/ready answered ${status}`];
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

  /** A node, and a client that is warm. */
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

function figures(latency: Latency, { answers, did }: Attacked): string {
  const { bare, quiet, under } = latency;
  const ms = (value: number): string => value.toFixed(1);
  const often = Object.entries(answers).map(([what, count]) => `${what} ${count}`);
  return (
    `p99 ${ms(quiet)} to ${ms(under)} ms, bare ${ms(bare)}, bound ${ms(boundOf(latency))}; ` +
    `did ${did}: ${often.join(', ')}`
  );
}
