/**
 * Values of the shared log that cannot be read. Each is said once, with its key; whoever needs it tries again, because a
 * good value may come.
 *
 * Thread: the I/O thread.
 */
import { Unreachable } from '../log/log.ts';
import { OtherGroupFormat } from './group-value.ts';

class BadValue extends Unreachable {}

export class BadValues {
  private readonly warn: (line: string) => void;
  private readonly bad = new Set<string>();

  constructor(warn: (line: string) => void) {
    this.warn = warn;
  }

  /**
   * Returns what `read` returns.
   * Throws BadValue where it throws, whatever the reason is; but OtherGroupFormat as it is, which no other value ends.
   * @param advice for the operator
   */
  read<T>(key: string, advice: string, read: () => T): T {
    try {
      const value = read();
      this.bad.delete(key);
      return value;
    } catch (error) {
      if (error instanceof OtherGroupFormat) throw error;
      throw this.report(key, (error as Error).message, advice);
    }
  }

  private report(key: string, why: string, advice: string): BadValue {
    const text = `${key} has a value that cannot be read: ${why}`;
    if (!this.bad.has(key)) this.warn(`etcd: ${text}; ${advice}`);
    this.bad.add(key);
    return new BadValue(text);
  }
}
