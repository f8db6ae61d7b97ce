/**
 * A reader of README and of the guides, which runs the commands of blocks and prose in a copy of
 * the checkout.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../bench/common/free-port.ts';
import { checkoutCopy } from '../common/checkout.ts';
import { until } from '../common/node-harness.ts';
import { firstSteps } from '../common/readme-commands.ts';

const running = new Set<Command>();
// A test that fails leaves nothing behind.
process.once('exit', () => {
  for (const command of running) command.signal('SIGKILL');
});

export class Command {
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;
  log = '';

  constructor(text: string, cwd: string, env: NodeJS.ProcessEnv) {
    this.child = spawn('sh', ['-c', text], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this);
    this.closed = once(this.child, 'close').then(() => running.delete(this));
    for (const pipe of [this.child.stdout, this.child.stderr]) {
      pipe?.on('data', (chunk: Buffer) => {
        this.log += chunk.toString();
      });
    }
  }

  get hasEnded(): boolean {
    return !running.has(this);
  }

  async ended(): Promise<number | null> {
    await this.closed;
    return this.child.exitCode;
  }

  async interrupt(): Promise<void> {
    this.signal('SIGINT');
    await this.closed;
  }

  signal(name: NodeJS.Signals): void {
    try {
      process.kill(-this.child.pid!, name);
    } catch {
      // All of them have ended.
    }
  }
}

export class Walk {
  readonly place = checkoutCopy('examples', 'README.md');
  readonly env: NodeJS.ProcessEnv;
  private readonly ports: ReadonlyMap<string, string>;
  private readonly text: string;
  private readonly commands: Command[] = [];
  /** Offset of the reader in the text. */
  private at = 0;

  private constructor(ports: readonly string[]) {
    const [port = '', admin = ''] = ports;
    const own = ['3000', '3001', '3100', '3101'];
    this.ports = new Map(own.map((name, i) => [name, ports[i]!]));
    const { npm_lifecycle_event: _, ...env } = process.env;
    const here = { PORT: port, ADMIN_PORT: admin, NODE_URL: `http://127.0.0.1:${port}` };
    this.env = { ...env, ...here, LOG_FORMAT: 'pretty', WORKERS: '1' };
    this.text = firstSteps();
  }

  static async begin(): Promise<Walk> {
    return new Walk(await Promise.all([0, 1, 2, 3].map(async () => String(await freePort()))));
  }

  /** Moves to a text, which stands after the current position. */
  read(text: string): void {
    const found = this.text.indexOf(text, this.at);
    assert(found >= 0, `it stands there, further down than what came before: ${text}`);
    this.at = found + text.length;
  }

  /**
   * Starts the next command.
   * @param change makes it shorter, or local
   */
  begin(text: string, change: (text: string) => string = (same) => same): Command {
    this.read(text);
    return this.run(change(text));
  }

  async done(text: string, change?: (text: string) => string): Promise<string> {
    const command = this.begin(text, change);
    assert.equal(await command.ended(), 0, `${text}\n${command.log}`);
    return command.log;
  }

  async node(text: string, change?: (text: string) => string): Promise<Command> {
    return this.started(this.begin(text, change));
  }

  async started(command: Command): Promise<Command> {
    await until(() => /\n {2}stop=.*\n/.test(command.log) || command.hasEnded, 180_000);
    assert(!command.hasEnded, command.log);
    return command;
  }

  /** Runs a command that no document has, on the ports of this walk. */
  run(text: string): Command {
    const local = text.replace(/\b3[01]0[01]\b/g, (port) => this.ports.get(port)!);
    const command = new Command(local, this.place, this.env);
    this.commands.push(command);
    return command;
  }

  end(): void {
    for (const command of this.commands) command.signal('SIGKILL');
  }
}
