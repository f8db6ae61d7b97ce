/** `mcp`: tools for an agent over standard input and output. It signs orders itself, where it has a key. */
import { readFileSync } from 'node:fs';
import { clientVenue } from '../mcp/client-venue.ts';
import { loadProtocol } from '../mcp/protocol.ts';
import { ToolServer } from '../mcp/tool-server.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { baseOf } from './node-request.ts';
import { addressOf, optionOf, textOf } from './settings.ts';

/** Lines of standard output are messages of the protocol: everything else goes to standard error. */
export const mcp: Run = async (context, _, options) => {
  const { signal, stderr } = context;
  const url = baseOf(context, options, (config) => config);
  const tools = new ToolServer(() => performance.now());
  const protocol = await loadProtocol(tools, (line) => stderr.line(line));
  const privateKey = keyOf(context, options);
  const agentOf = optionOf(options, 'agentOf', (text, flag) => {
    addressOf(text, flag);
    return text;
  });
  const isReadOnly = options.readOnly === true;
  const access = { agentOf, isReadOnly, privateKey };
  const venue = await clientVenue(url, access).catch((error: Error) => {
    throw error instanceof RangeError ? new Refused(error.message) : error;
  });
  const whose = venue.wallet === '' ? 'without a key' : `for ${venue.wallet}`;
  const count = tools.list(venue).length;
  stderr.line(`${count} tools of ${url} ${whose}; standard input and output are the protocol`);
  await protocol.stdio(venue, signal);
  return 'done';
};

/** Private key of PRIVATE_KEY, or of the file of --wallet-file or WALLET_FILE. */
function keyOf({ env }: Context, options: Options): string | undefined {
  const file = textOf(options, 'walletFile') ?? env.WALLET_FILE;
  if (textOf(options, 'walletFile') === undefined && env.PRIVATE_KEY) return env.PRIVATE_KEY;
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Refused(`the wallet file cannot be read: ${(error as Error).message}`);
  }
}
