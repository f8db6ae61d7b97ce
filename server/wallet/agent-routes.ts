/**
 * Agents of wallets: keys that sign orders which a wallet pays, within bounds that its owner sets. Rules:
 * docs/protocol.md#agents
 *
 * Thread: I/O, while workers write.
 */
import { createHash } from 'node:crypto';
import { type AgentFields, encodeAgent, encodeRevokeAgent } from '../../engine/commands.ts';
import { type AgentView, agentsKnownTo, agentView, findAgent } from '../../engine/ledger/agents.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { addressAt } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AgentRow } from '../../engine/tables/units.ts';
import { checksumAddress } from '../auth/checksum.ts';
import { bodyFault } from '../common/body-fault.ts';
import { INVALID_CURSOR, offsetOf } from '../common/cursor.ts';
import { errorBody, errorBodyOf, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { compileShape, type Static } from '../common/schema.ts';
import { sameBytes, wordsToBytes } from '../common/uint256.ts';
import type { RequestContext } from '../http/http.ts';
import { route } from '../http/route.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import {
  AGENT_BOUNDS,
  AGENTS_QUERY,
  AgentAnswer,
  AgentBody,
  AgentsAnswer,
  REVOKE_AGENT_BOUNDS,
  RevokeAgentBody,
} from './agent-schemas.ts';
import type { CommandOutcome, LedgerCommands } from './ledger-commands.ts';
import { PAGE_SIZE, pageBody } from './pages.ts';
import { type AccessParts, addressOf, WalletAccess, wordsOf } from './wallet-access.ts';

export interface AgentRouteParts extends AccessParts {
  readonly texts: TokenTexts;
  /** `undefined` on a node that cannot write. */
  readonly ledger: Pick<LedgerCommands, 'run'> | undefined;
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
}

const MS = 1_000;
const OTHER_BODY = errorBody(
  'INVALID_L1',
  'here the nonce of the signature is the SHA-256 of the body as a whole number',
  { text: 'invalid_l1: nonce is not of this body' },
);
const ADDRESS_BYTES = 20;

const agentBody = compileShape(AgentBody);
const revokeBody = compileShape(RevokeAgentBody);

export const AGENT_ROUTES = [
  route(
    'POST /agents',
    {
      access: 'level1',
      limits: ['agents', 'trading'],
      body: AgentBody,
      bodyBounds: AGENT_BOUNDS,
      answer: AgentAnswer,
      conflicts: true,
      does: 'authorises an agent of a wallet, or replaces its terms: `{"agent", "wallet", "cashPerDay", "maxOrderSize", "markets", "end"}`; needs a ledger',
    },
    (agents: AgentService) =>
      (context, _query, { address, nonce }) => {
        const { body } = context;
        return readJson(context, AGENT_BOUNDS, (sent) => {
          if (!agentBody.matches(sent))
            return context.reply(400, bodyFault(AgentBody, agentBody.fault(sent)));
          if (nonce !== nonceOf(body)) return context.reply(401, OTHER_BODY);
          return agents.authorise(context, address, sent);
        });
      },
  ),
  route(
    'GET /agents',
    {
      access: 'level2-read',
      query: AGENTS_QUERY,
      answer: AgentsAnswer,
      does: "agents of the caller's wallets, and the wallets whose agent the caller is, with what each has spent, newest first, 100 a page: `wallet next_cursor`",
    },
    (agents: AgentService) =>
      async (context, { next_cursor = '', wallet }, { address }) => {
        const offset = offsetOf(next_cursor);
        if (offset === -1) return context.reply(400, INVALID_CURSOR);
        const found = await agents.list(address, wallet, offset);
        const rows = found.slice(0, PAGE_SIZE).map((row) => JSON.stringify(row));
        context.reply(200, pageBody(rows, offset, found.length > PAGE_SIZE));
      },
  ),
  route(
    'POST /agents/revoke',
    {
      access: 'level2',
      limits: ['agents', 'trading'],
      body: RevokeAgentBody,
      bodyBounds: REVOKE_AGENT_BOUNDS,
      answer: AgentAnswer,
      conflicts: true,
      does: 'ends an agent and cancels its open orders: `{"agent", "wallet"}`',
    },
    (agents: AgentService) =>
      (context, _query, { address }) =>
        readJson(context, REVOKE_AGENT_BOUNDS, (sent) => {
          if (!revokeBody.matches(sent))
            return context.reply(400, bodyFault(RevokeAgentBody, revokeBody.fault(sent)));
          return agents.revoke(context, address, sent);
        }),
  ),
];

/** Nonce of a level-1 signature that covers a body, so that one for a login authorises nobody. */
function nonceOf(body: Uint8Array): string {
  return String(BigInt(`0x${createHash('sha256').update(body).digest('hex')}`));
}

type Answer = Static<typeof AgentAnswer>;

export class AgentService {
  private readonly parts: AgentRouteParts;
  private readonly access: WalletAccess;

  constructor(parts: AgentRouteParts) {
    this.parts = parts;
    this.access = new WalletAccess(parts);
  }

  async authorise(
    context: RequestContext,
    caller: Uint8Array,
    sent: Static<typeof AgentBody>,
  ): Promise<void> {
    const { ledger, tables } = this.parts;
    if (ledger === undefined) return context.reply(503, JOURNAL_UNAVAILABLE);
    const fields = this.fieldsOf(caller, sent);
    const { cashPerDay, end, markets, maxOrderSize } = sent;
    const named = markets === 'all' ? [] : [...new Set(markets)];
    const terms = {
      cash: Number(cashPerDay),
      size: Number(maxOrderSize),
      end: end * MS,
      markets: named.map((condition) => marketByCondition(tables, condition)),
    };
    const outcome = await ledger.run(
      (out) => encodeAgent(out, fields, terms),
      (t) => this.viewOf(t, fields),
    );
    this.reply(context, outcome);
  }

  async revoke(
    context: RequestContext,
    caller: Uint8Array,
    sent: Static<typeof RevokeAgentBody>,
  ): Promise<void> {
    const { ledger } = this.parts;
    if (ledger === undefined) return context.reply(503, JOURNAL_UNAVAILABLE);
    const fields = this.fieldsOf(caller, sent);
    const outcome = await ledger.run(
      (out) => encodeRevokeAgent(out, fields),
      (t) => this.viewOf(t, fields),
    );
    this.reply(context, outcome);
  }

  /** Returns the agents of a page, and one more where there is a further page. */
  async list(caller: Uint8Array, named: string | undefined, offset: number): Promise<Answer[]> {
    const { now, sequenceLock, tables: t } = this.parts;
    const words = wordsOf(caller);
    const views = await sequenceLock.read(() => {
      const wallet = named === undefined ? 0 : findAccount(t, wordsOf(addressOf(named)), 0);
      if (named !== undefined && wallet === 0) return [];
      return agentsKnownTo(t, words, findAccount(t, words, 0), wallet)
        .slice(offset, offset + PAGE_SIZE + 1)
        .map((row) => agentView(t, row, now()));
    });
    return views.map((view) => this.answerOf(view));
  }

  private fieldsOf(
    caller: Uint8Array,
    { agent, wallet: named }: Pick<Static<typeof AgentBody>, 'agent' | 'wallet'>,
  ): AgentFields {
    const wallet = named === undefined ? caller : addressOf(named);
    const isDerived = !sameBytes(wallet, caller) && this.access.wallets.isOwn(wallet, caller);
    return {
      wallet: wordsOf(wallet),
      agent: wordsOf(addressOf(agent)),
      owner: wordsOf(caller),
      isDerived,
    };
  }

  private viewOf(t: Tables, { agent, wallet }: AgentFields): AgentView {
    const row = findAgent(t, findAccount(t, wallet, 0), agent, 0);
    return agentView(t, row as AgentRow, this.parts.now());
  }

  private reply(context: RequestContext, outcome: CommandOutcome<AgentView>): void {
    if (outcome.kind === 'done') context.reply(200, JSON.stringify(this.answerOf(outcome.value)));
    else if (outcome.kind === 'failed') context.reply(outcome.status, outcome.body);
    else context.reply(outcome.status, errorBodyOf(outcome.text));
  }

  private answerOf(view: AgentView): Answer {
    const { tables, texts } = this.parts;
    const { address, markets, state, wallet } = view;
    const at = addressAt(wallet);
    return {
      wallet: textOf(tables.accountI.slice(at, at + ADDRESS_WORDS)),
      agent: textOf(address),
      state,
      cashPerDay: String(view.cash),
      maxOrderSize: String(view.size),
      markets: markets.length === 0 ? 'all' : markets.map((market) => texts.conditionId(market)),
      end: view.end / MS,
      spent: String(view.spent),
      reserved: String(view.reserved),
      left: String(view.left),
      openOrders: view.openOrders,
      createdAt: String(view.created),
    };
  }
}

function textOf(words: Int32Array): string {
  const address = new Uint8Array(ADDRESS_BYTES);
  wordsToBytes(words, address);
  return checksumAddress(address);
}
