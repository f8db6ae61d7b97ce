/**
 * Command line that starts a node beside one that has the ports or the directory: the same settings with free
 * ports and, where needed, another directory.
 *
 * Thread: I/O, at the end of a failed start.
 */
import { existsSync } from 'node:fs';
import { takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { repeatable } from '../config/config.ts';
import { portProblem } from '../http/listening.ts';
import type { GivenSettings } from './retained-settings.ts';
import { shellLine } from './start-line.ts';

const APART = 100;
const TRIES = 20;
const PORT_MAX = 65_535;

export async function lineBeside({ config, set }: GivenSettings): Promise<string> {
  const { adminHost, adminPort, dataDir, host, port } = config;
  const replaced = new Set(['PORT', 'ADMIN_PORT', 'DATA_DIR']);
  const others = repeatable(config, set).filter(([name]) => !replaced.has(name));
  const isFree = async (at: string, number: number): Promise<boolean> =>
    number === 0 || (number <= PORT_MAX && (await portProblem(at, number)) === undefined);
  const line = (ports: readonly [number, number], directory: string): string =>
    shellLine([
      ['PORT', String(ports[0])],
      ['ADMIN_PORT', String(ports[1])],
      ['DATA_DIR', directory],
      ...others,
    ]);
  for (let number = 2; number < TRIES; number++) {
    const away = (number - 1) * APART;
    // 0 is any free port, or no admin listener.
    const ports = [port && port + away, adminPort && adminPort + away] as const;
    if (!(await isFree(host, ports[0])) || !(await isFree(adminHost, ports[1]))) continue;
    const another = `${dataDir.replace(/\/+$/, '')}${number}`;
    return line(ports, isDirectoryFree(dataDir) ? dataDir : another);
  }
  return line([0, 0], './another');
}

function isDirectoryFree(dataDir: string): boolean {
  if (!existsSync(dataDir)) return true;
  const lock = takeDirectoryLock(dataDir);
  if (lock.ok) lock.release();
  return lock.ok;
}
