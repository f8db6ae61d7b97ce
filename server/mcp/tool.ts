/**
 * Definition of a tool: a row of the table (tool-table.ts), from which lists of tools, checks of arguments and the
 * document come, and the function beside it.
 *
 * Thread: any. Not here: the protocol that carries calls (protocol.ts).
 */
import type { RouteKey, RouteRequest } from '../../client/calls.ts';
import type { OrderItemShape, PreviewAnswer, Routes } from '../../client/types.ts';
import type { Static, TObject } from '../common/schema.ts';
import type { PlacedRequests } from './placed-requests.ts';
import type { Previews } from './previews.ts';

/** Rights of a key: none is there; reads of a wallet; also orders and cancels. */
export type Rights = 'none' | 'read' | 'trade';

/** The node as tools see it: over HTTP from another process, or in the node itself. */
export interface Venue {
  readonly rights: Rights;
  /** Identifies the key; '' without one. */
  readonly owner: string;
  /** Address of the key; '' without one. */
  readonly address: string;
  /** Address of the wallet that the key trades for; '' without one. */
  readonly wallet: string;
  /** That wallet again where the key is an agent of it. */
  readonly agentOf?: string | undefined;
  /** @throws ApiError for any answer but 200 */
  readonly call: <Key extends RouteKey>(
    route: Key,
    request: RouteRequest<Key>,
  ) => Promise<Routes[Key]['answer']>;
  /** Signs the order of a preview. Absent where callers send signed orders. */
  readonly sign?: ((preview: Pick<PreviewAnswer, 'order'>) => Promise<OrderItemShape>) | undefined;
}

/** Memory of a tool server, shared by its connections. */
export interface ToolMemory {
  readonly previews: Previews;
  readonly placed: PlacedRequests;
}

export interface ToolCall<Args> {
  readonly args: Args;
  readonly venue: Venue;
  readonly memory: ToolMemory;
}

/** Consequence of a call for the wallet. */
export type Effect = 'none' | 'places' | 'cancels';

export interface Tool {
  readonly title: string;
  /** Text that a model reads: purpose, and the tool to call before or after. */
  readonly does: string;
  readonly needs: Rights;
  readonly effect: Effect;
  /** Every route that it calls. */
  readonly routes: readonly RouteKey[];
  readonly args: TObject;
  /** Arguments where callers send signed orders, if they differ. */
  readonly signedArgs?: TObject;
  readonly run: (call: ToolCall<never>) => Promise<object>;
}

type Definition<Args> = Omit<Tool, 'effect' | 'needs' | 'run'> &
  Partial<Pick<Tool, 'effect' | 'needs'>> & {
    readonly run: (call: ToolCall<Args>) => Promise<object>;
  };

/** Row without its defaults: open to everybody, and without effect. */
export function tool<const Args extends TObject>(
  definition: Definition<Static<Args>> & { readonly args: Args },
): Tool {
  return { needs: 'none', effect: 'none', ...definition };
}
