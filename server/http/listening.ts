/**
 * Reason why a port could not be opened. The HTTP library has none, so node:net opens the port once more.
 *
 * Thread: I/O, at start.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Another process has the port or the directory. */
export class InUse extends Error {}

/** System error code of opening a port; undefined = it can be opened now. */
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

export async function listenError(host: string, port: number, names: string): Promise<Error> {
  const problem = await portProblem(host, port);
  const what = `cannot listen on ${host}:${port} (${names})`;
  // A port that can be opened now was released meanwhile.
  if (problem === undefined || problem === 'EADDRINUSE')
    return new InUse(`${what}: another process listens there`);
  return new Error(`${what}: not permitted, or the host is not of this machine (${problem})`);
}
