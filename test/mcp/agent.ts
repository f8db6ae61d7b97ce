/** Agents of the tests: the official client package, over either transport and in either version of the protocol. */
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { level2, readOnly } from '../../client/credentials.ts';
import { fileArgs } from '../common/forms.ts';
import { ROOT } from '../common/root.ts';
import { seconds, type Trader } from '../common/traders.ts';

/** Versions of the protocol by the name that the tests use. */
export const NEWEST = '2026-07-28';
export const BEFORE = '2025-11-25';
export type Version = typeof NEWEST | typeof BEFORE;

export type Answer = Readonly<Record<string, unknown>>;
type Place = { readonly port: number };
type Headers = Readonly<Record<string, string>>;

export class Agent {
  readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  /** @param proof headers of a request with this body */
  static async overHttp(
    { port }: Place,
    version: Version,
    proof: (body: string) => Headers = () => ({}),
    query = '',
  ): Promise<Agent> {
    const client = clientOf(version);
    const fetchSigned = (url: string | URL, init: RequestInit = {}): Promise<Response> => {
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(proof(String(init.body ?? '')))) {
        headers.set(name, value);
      }
      return fetch(url, { ...init, headers });
    };
    const url = new URL(`http://127.0.0.1:${port}/mcp${query}`);
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: fetchSigned }));
    return new Agent(client);
  }

  /** Starts `cli mcp`. @param env with the key, if it has one */
  static async overStdio(
    { port }: Place,
    version: Version,
    env: Headers = {},
    options: readonly string[] = [],
  ): Promise<Agent> {
    const client = clientOf(version);
    const args = [...fileArgs('server/cli/cli'), 'mcp', '--url', `http://127.0.0.1:${port}`];
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...args, ...options],
        cwd: ROOT,
        env: { PATH: process.env.PATH ?? '', ...env },
        stderr: 'ignore',
      }),
    );
    return new Agent(client);
  }

  get version(): string | undefined {
    return this.client.getNegotiatedProtocolVersion();
  }

  async names(): Promise<string[]> {
    const { tools } = await this.client.listTools();
    return tools.map(({ name }) => name);
  }

  /** Calls a tool that answers, and returns what it says. */
  async call(name: string, args: object = {}): Promise<Answer> {
    const { isError, said } = await this.ask(name, args);
    assert(!isError, `${name}: ${JSON.stringify(said)}`);
    return said;
  }

  /** Calls a tool that refuses, and returns its error. */
  async refused(name: string, args: object = {}): Promise<Answer> {
    const { isError, said } = await this.ask(name, args);
    assert(isError, `${name} was expected to refuse: ${JSON.stringify(said)}`);
    assert(typeof said.next === 'string' && said.next !== '', 'an error says what to do next');
    return said;
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private async ask(name: string, args: object): Promise<{ isError: boolean; said: Answer }> {
    const result = await this.client.callTool({ name, arguments: { ...args } });
    const [first] = result.content as readonly { readonly text: string }[];
    assert(first !== undefined);
    return { isError: result.isError === true, said: JSON.parse(first.text) as Answer };
  }
}

/** Headers of level 2 of a trader. */
export function signedBy({ address, trio }: Trader): (body: string) => Headers {
  return (body) => level2('SERVICE', address, trio, 'POST', '/mcp', body, seconds());
}

export function readOnlyOf({ address }: Trader, key: string): (body: string) => Headers {
  return () => readOnly('SERVICE', address, key);
}

function clientOf(version: Version): Client {
  const mode = version === NEWEST ? { pin: NEWEST } : 'legacy';
  return new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities: {} },
  );
}
