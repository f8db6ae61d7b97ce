/**
 * Why a port could not be opened: the HTTP library does not say, so the port is opened once more by node:net.
 *
 * Thread: the I/O thread, at start.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Another process has the port or the directory. */
export class InUse extends Error {}

/** The error of the system for opening a port; undefined = it can be opened now. */
export async function portProblem(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    server.close();
  }
}

/** @param names of the settings */
export async function listenError(host: string, port: number, names: string): Promise<Error> {
  const problem = await portProblem(host, port);
  const what = `cannot listen on ${host}:${port} (${names})`;
  // Where it can be opened now, whoever had it has just left.
  if (problem === undefined || problem === 'EADDRINUSE')
    return new InUse(`${what}: another process listens there`);
  return new Error(`${what}: not permitted, or the host is not of this machine (${problem})`);
}
