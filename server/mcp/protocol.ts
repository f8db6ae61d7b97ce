/**
 * Single entry point to the package @modelcontextprotocol/server: the Model Context Protocol in its versions, over
 * streamable HTTP without sessions, and over standard input and output. The package is optional and is loaded on first
 * use.
 *
 * Thread: any. Not here: tools (tool-server.ts), credentials and Origin (mcp-routes.ts).
 */
import type * as Package from '@modelcontextprotocol/server';
import type * as StdioPackage from '@modelcontextprotocol/server/stdio';
import { packageVersion } from '../common/package-version.ts';
import type { Venue } from './tool.ts';
import { INSTRUCTIONS, type ToolServer } from './tool-server.ts';

const PACKAGE = '@modelcontextprotocol/server';
const NAME = 'prediction-market-node';
/** Longest time of one request over HTTP. */
const REQUEST_MS_MAX = 30_000;
/** Longest message on standard input. */
const MESSAGE_BYTES_MAX = 2 ** 20;

export interface ProtocolAnswer {
  readonly status: number;
  /** JSON; '' without a body. */
  readonly body: string;
}

export interface ToolProtocol {
  /** Answers one message. @param headers by lower-case name @param message parsed JSON */
  http(
    headers: Readonly<Record<string, string>>,
    message: unknown,
    venue: Venue,
  ): Promise<ProtocolAnswer>;
  /** Serves standard input and output until the input ends or the signal aborts. */
  stdio(venue: Venue, signal: AbortSignal): Promise<void>;
}

/** @param warn called with each failure of a tool that is a bug. @throws Error that names the package to install */
export async function loadProtocol(
  tools: ToolServer,
  warn: (line: string) => void,
): Promise<ToolProtocol> {
  // A name that the bundler does not see: the package stays outside of the bundle.
  const names = [PACKAGE, `${PACKAGE}/stdio`] as const;
  const [server, stdio] = await Promise.all([
    import(names[0]) as Promise<typeof Package>,
    import(names[1]) as Promise<typeof StdioPackage>,
  ]).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`the package ${PACKAGE} is not installed: npm install ${PACKAGE}`);
  });
  return new LoadedProtocol(server, stdio, tools, warn);
}

/** Message of a stream of events that has one: older versions answer so, and clients of all versions take JSON. */
function messageOf(events: string): string {
  const lines = events.split('\n').filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length).trim()).join('');
}

class LoadedProtocol implements ToolProtocol {
  private readonly server: typeof Package;
  private readonly stdioPackage: typeof StdioPackage;
  private readonly tools: ToolServer;
  private readonly warn: (line: string) => void;
  private readonly handler: Package.McpHttpHandler;

  constructor(
    server: typeof Package,
    stdioPackage: typeof StdioPackage,
    tools: ToolServer,
    warn: (line: string) => void,
  ) {
    this.server = server;
    this.stdioPackage = stdioPackage;
    this.tools = tools;
    this.warn = warn;
    this.handler = server.createMcpHandler(
      ({ authInfo }) => this.connection(authInfo?.extra?.venue as Venue),
      // No stream stays open: lists of tools do not change.
      { keepAliveMs: 0, maxSubscriptions: 0 },
    );
  }

  async http(
    headers: Readonly<Record<string, string>>,
    message: unknown,
    venue: Venue,
  ): Promise<ProtocolAnswer> {
    const request = new Request('http://node/mcp', {
      method: 'POST',
      headers,
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
    const authInfo = { token: '', clientId: venue.owner, scopes: [], extra: { venue } };
    const answer = await this.handler.fetch(request, { authInfo, parsedBody: message });
    const text = await answer.text();
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    return { status: answer.status, body: isStream ? messageOf(text) : text };
  }

  async stdio(venue: Venue, signal: AbortSignal): Promise<void> {
    const { StdioServerTransport, serveStdio } = this.stdioPackage;
    const { stdin, stdout } = process;
    const bounds = { maxBufferSize: MESSAGE_BYTES_MAX };
    const transport = new StdioServerTransport(stdin, stdout, bounds);
    const ended = new Promise<void>((resolve) => {
      for (const name of ['end', 'close', 'error']) stdin.once(name, () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const served = serveStdio(() => this.connection(venue), { transport, maxSubscriptions: 0 });
    await ended;
    await served.close();
  }

  /** Returns the tools of one connection or request. */
  private connection(venue: Venue): Package.Server {
    const { ProtocolError, ProtocolErrorCode, Server } = this.server;
    const identity = { name: NAME, version: packageVersion() };
    const server = new Server(identity, {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
    });
    server.setRequestHandler('tools/list', () => ({
      tools: this.tools.list(venue).map(({ tool, ...listed }) => ({
        ...listed,
        inputSchema: { ...listed.inputSchema, type: 'object' as const },
        annotations: {
          readOnlyHint: tool.effect === 'none',
          destructiveHint: tool.effect !== 'none',
          idempotentHint: tool.effect !== 'places',
          openWorldHint: false,
        },
      })),
    }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const { arguments: sent = {}, name } = params;
      const answer = await this.tools.call(venue, name, sent).catch((error: Error) => {
        this.warn(`tool ${name} failed: ${error.message}`);
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'the tool failed');
      });
      if (answer === undefined) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'no tool has this name');
      }
      const { isError, text } = answer;
      return { isError, content: [{ type: 'text' as const, text }] };
    });
    return server;
  }
}
