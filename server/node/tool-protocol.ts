/**
 * Tools for agents in a node, loaded where the settings want them, and before anything else is: their package is optional.
 *
 * Thread: I/O.
 */
import type { Config } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';
import type { ToolProtocol } from '../mcp/protocol.ts';
import type { NodeOptions } from './running-node.ts';

/** Returns `undefined` with MCP=off. Throws SettingsRefused where the package is not installed. */
export async function openTools(
  { mcp }: Config,
  log: NodeOptions['log'],
): Promise<ToolProtocol | undefined> {
  if (!mcp) return undefined;
  const [{ loadProtocol }, { ToolServer }] = await Promise.all([
    import('../mcp/protocol.ts'),
    import('../mcp/tool-server.ts'),
  ]);
  const tools = new ToolServer(() => performance.now());
  return loadProtocol(tools, (line) => log('error', line)).catch((error: Error) => {
    throw new SettingsRefused(`MCP=on: ${error.message}`);
  });
}
