/** Agents of wallets: keys that sign orders which a wallet pays, within bounds. Amounts are decimal text. */
import type { Calls } from './calls.ts';
import { nonceOfBody } from './credentials.ts';
import { toMicro } from './decimal.ts';
import type { Signer } from './exchange.ts';
import { level1Request } from './keys.ts';
import { rowsOf } from './lists.ts';
import { decimalOf } from './money.ts';
import type { AgentAnswer } from './types.ts';

export interface AgentTerms {
  /** Address whose key signs: 0x + 40 hex digits. */
  readonly agent: string;
  /** Absent: the address of the client's wallet. */
  readonly wallet?: string;
  /** Most that its purchases pay on a UTC day, with fees. */
  readonly cashPerDay: string;
  /** Shares of its largest order. */
  readonly maxOrderSize: string;
  /** Condition ids. */
  readonly markets: 'all' | readonly string[];
  /** Unix seconds. */
  readonly end: number;
}

/** Answer of the node, with decimal text for amounts. */
export type Agent = AgentAnswer;

export class Agents {
  readonly #calls: Calls;
  readonly #wallet: Signer | undefined;
  readonly #prefix: string;
  readonly #chainId: number;

  constructor(calls: Calls, wallet: Signer | undefined, prefix: string, chainId: number) {
    this.#calls = calls;
    this.#wallet = wallet;
    this.#prefix = prefix;
    this.#chainId = chainId;
  }

  async authorize(terms: AgentTerms): Promise<Agent> {
    if (this.#wallet === undefined) throw new Error('authorizeAgent: a wallet is needed');
    const { cashPerDay, maxOrderSize } = terms;
    const amounts = {
      cashPerDay: String(toMicro(cashPerDay)),
      maxOrderSize: String(toMicro(maxOrderSize)),
    };
    const body = JSON.stringify({ ...terms, ...amounts });
    const by = {
      wallet: this.#wallet,
      prefix: this.#prefix,
      chainId: this.#chainId,
      nonce: nonceOfBody(body),
    };
    return inDecimals(await level1Request(this.#calls, by, 'POST /agents', body));
  }

  async list(): Promise<readonly Agent[]> {
    const query: { next_cursor?: string } = {};
    const agents: Agent[] = [];
    const rows = rowsOf(query, 'next_cursor', async (paged) => {
      const { data, next_cursor } = await this.#calls.call('GET /agents', { query: paged });
      return { rows: data, next: next_cursor };
    });
    for await (const row of rows) agents.push(inDecimals(row));
    return agents;
  }

  async revoke(body: { readonly agent: string; readonly wallet?: string }): Promise<Agent> {
    return inDecimals(await this.#calls.call('POST /agents/revoke', { body }));
  }
}

function inDecimals(agent: Agent): Agent {
  const { cashPerDay, left, maxOrderSize, reserved, spent } = agent;
  return {
    ...agent,
    cashPerDay: decimalOf(cashPerDay),
    maxOrderSize: decimalOf(maxOrderSize),
    spent: decimalOf(spent),
    reserved: decimalOf(reserved),
    left: decimalOf(left),
  };
}
