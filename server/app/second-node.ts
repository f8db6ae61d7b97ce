/**
 * The line that starts a node beside the one that has the ports or the directory.
 *
 * Thread: the I/O thread, at the end of a start that failed.
 */
import type { Config } from '../config/config.ts';
import { portProblem } from '../http/listening.ts';

/** Between the ports of two nodes. */
const APART = 100;
const TRIES = 20;
const PORT_MAX = 65_535;

export async function lineBeside(
  { adminHost, adminPort, dataDir, host, port }: Config,
  isScript: boolean,
): Promise<string> {
  const isFree = async (at: string, number: number): Promise<boolean> =>
    number === 0 || (number <= PORT_MAX && (await portProblem(at, number)) === undefined);
  for (let number = 2; number < TRIES; number++) {
    const away = (number - 1) * APART;
    // 0 is any free port, or no admin listener.
    const own = port && port + away;
    const admin = adminPort && adminPort + away;
    if (!(await isFree(host, own)) || !(await isFree(adminHost, admin))) continue;
    const directory = `${dataDir.replace(/\/+$/, '')}${number}`;
    return isScript
      ? `PORT=${own} ADMIN_PORT=${admin} DATA_DIR=${directory} npm start`
      : `prediction-market-node start --port ${own} --admin-port ${admin} --data-dir ${directory}`;
  }
  return 'PORT=0 ADMIN_PORT=0 DATA_DIR=./another npm start';
}
