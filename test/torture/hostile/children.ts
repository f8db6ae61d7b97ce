/** Processes around the attacked node: started here, addressed by messages, ended with this one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileArgs } from '../../common/forms.ts';

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export class Child {
  private readonly process: ChildProcess;
  private readonly name: string;
  private said = '';

  /**
   * @param file in this folder, without its extension
   * @param priority of the system's scheduler, 19 = after all others; that of this process by
   * default
   */
  constructor(file: string, args: readonly string[], priority?: number) {
    this.name = file;
    this.process = spawn(process.execPath, [...fileArgs(`test/torture/hostile/${file}`), ...args], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      serialization: 'advanced',
    });
    const { pid } = this.process;
    if (pid !== undefined && priority !== undefined) setPriority(pid, priority);
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.said = (this.said + chunk.toString()).slice(-4_000);
    });
    children.add(this.process);
    this.process.once('exit', () => children.delete(this.process));
  }

  send(message: object): void {
    this.process.send(message);
  }

  /** Its next message; rejects when it ends first, or sends nothing for this time. */
  async next<T>(milliseconds: number): Promise<T> {
    const over = new AbortController();
    const { signal } = over;
    try {
      const [message] = (await Promise.race([
        once(this.process, 'message', { signal }),
        once(this.process, 'exit', { signal }).then(() => {
          throw new Error(`${this.name} ended: ${this.said}`);
        }),
        sleep(milliseconds, undefined, { signal }).then(() => {
          throw new Error(`${this.name} said nothing for ${milliseconds} ms: ${this.said}`);
        }),
      ])) as [T];
      return message;
    } finally {
      over.abort();
    }
  }

  end(): void {
    this.process.kill('SIGKILL');
  }
}
