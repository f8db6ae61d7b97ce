/**
 * Operations on payouts: resolving a market at once or after a review, a dry run, and taking a proposal back.
 * Each is a command in the log; then the catalog is edited to match.
 *
 * Thread: I/O. Not here: deadlines, which the engine executes, and their edits (node/decided-markets.ts).
 */

import { previewPayout } from '../../engine/ledger/preview.ts';
import {
  ledgerIsOn,
  type MarketProposal,
  proposalOf,
  proposedMarkets,
  resolutionOf,
} from '../../engine/ledger/reads.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { addressAt, conditionAt, marketFlags } from '../../engine/reads.ts';
import { PAYOUT_SUM_MAX } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { WalletNames } from '../auth/wallet-names.ts';
import { groupOf } from '../catalog/edits/edit-ids.ts';
import { microText } from '../common/decimal.ts';
import { REFUSALS } from '../common/refusals.ts';
import type { Static } from '../common/schema.ts';
import { bytesToWords, wordsToHex } from '../common/uint256.ts';
import { addressText } from '../market-data/account-texts.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { LedgerOutcome } from '../wallet/ledger-commands.ts';
import { operatorRequestId } from '../wallet/request-id.ts';
import {
  BAD_ID,
  LEDGER_OFF,
  type LedgerOperationParts,
  newRequestId,
  refusalOf,
} from './ledger-operations.ts';
import { type MarketOperationParts, made } from './market-operations.ts';
import { OperationRefused, operation, refused, refusedField } from './operation-row.ts';
import { NoInput } from './operation-schemas.ts';
import { type Outcomes, outcomesOf, type PayoutInput, weightsOf } from './payout-input.ts';
import {
  DryRunAnswer,
  DryRunInput,
  ProposalsAnswer,
  ResolvedAnswer,
  ResolveInput,
  VoidInput,
  WithdrawnAnswer,
  WithdrawProposalInput,
} from './venue-schemas.ts';

interface ResolutionOperationParts extends LedgerOperationParts, MarketOperationParts {
  readonly needsConfirm: boolean;
  readonly names: Pick<WalletNames, 'nameOf'>;
  readonly eventOf: (condition: string) => string | undefined;
  /**
   * Names of the outcomes, in the order of the engine; undefined where the catalog does not list the market.
   */
  readonly namesOf: (market: MarketRow) => readonly string[] | undefined;
  readonly slugOf: (market: MarketRow) => string | undefined;
  /** Called with a market whose resolution could not be written to the catalog. */
  readonly unpublished: (condition: string) => void;
}

type Resolved = Static<typeof ResolvedAnswer> | OperationRefused;
type DryRun = Static<typeof DryRunAnswer> | OperationRefused;
type Withdrawn = Static<typeof WithdrawnAnswer> | OperationRefused;
type Proposals = Static<typeof ProposalsAnswer> | OperationRefused;

interface Request {
  readonly condition: string;
  readonly id?: string;
}
interface Resolution extends PayoutInput, Request {
  readonly review?: number;
  readonly confirm?: boolean;
  readonly note?: string;
}

const MS = 1_000;
const [CATALOG_BEHIND] = REFUSALS.CATALOG_BEHIND.texts;
const NO_GROUP = refused(
  'NO_GROUP',
  'payout of the whole to the first outcome needs it: one market of an event at most can have that',
);
const NO_MARKET = refused('UNKNOWN_MARKET', 'no market has this condition id');
const NOT_CONFIRMED = refusedField(
  'confirm',
  'RESOLVE_CONFIRM=always: confirm must be true, --yes of the command; a dry run shows what is paid',
);

export const RESOLUTION_OPERATIONS = [
  operation(
    'POST /admin/markets/resolve',
    {
      does: 'pays out a market by weights of its outcomes, for good',
      input: ResolveInput,
      answer: ResolvedAnswer,
      resolver: true,
    },
    (parts: ResolutionOperationParts) => (input) => resolve(parts, input, false),
  ),
  operation(
    'POST /admin/markets/void',
    {
      does: 'pays out a market by equal weights of its outcomes, for good',
      input: VoidInput,
      answer: ResolvedAnswer,
      resolver: true,
    },
    (parts: ResolutionOperationParts) => (input) => resolve(parts, input, true),
  ),
  operation(
    'POST /admin/markets/dry-run',
    {
      does: 'shows what a payout would pay to whom, and how many orders would end; changes nothing',
      input: DryRunInput,
      answer: DryRunAnswer,
      resolver: true,
      reads: true,
    },
    (parts: ResolutionOperationParts) =>
      ({ after: from = 0, limit = 100, void: isVoid, ...input }, { role }) =>
        dryRun(parts, input, isVoid === true, { from, limit, isNamed: role === 'operator' }),
  ),
  operation(
    'POST /admin/markets/withdraw-proposal',
    {
      does: 'takes a proposed payout back: the market trades as before',
      input: WithdrawProposalInput,
      answer: WithdrawnAnswer,
      resolver: true,
    },
    (parts: ResolutionOperationParts) => (input) => withdraw(parts, input),
  ),
  operation(
    'GET /admin/markets/proposals',
    {
      does: 'payouts that are proposed, with their deadlines',
      input: NoInput,
      answer: ProposalsAnswer,
      resolver: true,
    },
    (parts: ResolutionOperationParts) => () => proposals(parts),
  ),
];

interface Payout {
  readonly market: MarketRow;
  readonly condition: string;
  readonly outcomes: Outcomes;
  readonly weights: readonly number[];
  readonly isVoid: boolean;
}

/**
 * A market and the payout that an input states.
 *
 * @param isVoid the same weight for each outcome
 */
function payoutIn(
  { namesOf, t }: ResolutionOperationParts,
  { condition: text, ...input }: Resolution,
  isVoid: boolean,
): Payout | OperationRefused {
  const condition = text.toLowerCase();
  const market = marketByCondition(t, condition);
  if (market === 0) return NO_MARKET;
  const outcomes = outcomesOf(t, market, namesOf(market));
  const weights = isVoid ? outcomes.tokenIds.map(() => 1) : weightsOf(input, outcomes);
  if (weights instanceof OperationRefused) return weights;
  return { market, condition, outcomes, weights, isVoid };
}

function payoutShown({ condition, isVoid, outcomes, weights }: Omit<Payout, 'market'>) {
  return {
    condition,
    payout: [...weights],
    payouts: Object.fromEntries(outcomes.tokenIds.map((token, i) => [token, weights[i]!])),
    outcomes: [...outcomes.names],
    void: isVoid,
  };
}

async function resolve(
  parts: ResolutionOperationParts,
  input: Resolution,
  isVoid: boolean,
): Promise<Resolved> {
  const { ledger, sequenceLock, t } = parts;
  const { id: idText = newRequestId(parts.now()), review } = input;
  const id = operatorRequestId(idText);
  if (id === undefined) return BAD_ID;
  if (parts.needsConfirm && input.confirm !== true) return NOT_CONFIRMED;
  const payout = payoutIn(parts, input, isVoid);
  if (payout instanceof OperationRefused) return payout;
  const { condition, market, weights } = payout;
  const group = groupWords(parts, market, condition);
  const isFirst = weights.slice(1).every((weight) => weight === 0);
  if (group === undefined && isNegRisk(t, market) && isFirst) return NO_GROUP;
  const outcome = await ledger.resolve({
    id,
    market,
    weights,
    isVoid,
    ...(group === undefined ? {} : { group }),
    ...(review === undefined ? {} : { review: review * MS }),
  });
  if (outcome.kind !== 'done') return refusedFor(parts, market, outcome);
  const shown = await say(parts, condition, idText, input.note);
  if (shown instanceof OperationRefused) return shown;
  const deadline = review === undefined ? undefined : outcome.first?.result;
  const state = await sequenceLock.read(() => stateOf(t, market, deadline));
  return {
    id: idText,
    ...payoutShown(payout),
    state,
    ...(deadline === undefined ? {} : { deadline: new Date(deadline).toISOString() }),
    repeated: outcome.isRepeated,
  };
}

/** @param deadline deadline of the proposal that the caller means */
function stateOf(t: Tables, market: MarketRow, deadline: number | undefined) {
  const resolution = resolutionOf(t, market);
  if (resolution !== undefined) return resolution.isDone ? 'resolved' : 'resolving';
  return proposalOf(t, market)?.deadline === deadline ? 'proposed' : 'withdrawn';
}

/** A refusal for a pending proposal includes its deadline. */
async function refusedFor(
  { sequenceLock, t }: ResolutionOperationParts,
  market: MarketRow,
  outcome: Exclude<LedgerOutcome, { readonly kind: 'done' }>,
): Promise<OperationRefused> {
  const isProposed = outcome.kind === 'refused' && outcome.reason === RejectReason.marketProposed;
  const proposal = isProposed ? await sequenceLock.read(() => proposalOf(t, market)) : undefined;
  const refused = refusalOf(outcome);
  if (proposal === undefined) return refused;
  const at = new Date(proposal.deadline).toISOString();
  const detail = `it is paid from ${at} on, unless market withdraw-proposal takes it back`;
  return new OperationRefused(refused.status, refused.error, detail, refused.facts);
}

/** Edits the catalog to match the engine's state of a market. */
async function say(
  parts: ResolutionOperationParts,
  condition: string,
  id: string,
  note?: string,
): Promise<OperationRefused | undefined> {
  const at = new Date(parts.now()).toISOString();
  const noted = note === undefined ? {} : { note };
  const shown = await made(parts, { kind: 'resolutions', conditions: [condition], ...noted, at });
  if (!(shown instanceof OperationRefused)) return undefined;
  parts.unpublished(condition);
  return new OperationRefused(
    503,
    CATALOG_BEHIND,
    `send it again with the id ${id}: ${shown.detail}`,
  );
}

async function withdraw(
  parts: ResolutionOperationParts,
  { condition: text, id: idText = newRequestId(parts.now()) }: Request,
): Promise<Withdrawn> {
  const id = operatorRequestId(idText);
  if (id === undefined) return BAD_ID;
  const condition = text.toLowerCase();
  const market = marketByCondition(parts.t, condition);
  if (market === 0) return NO_MARKET;
  const outcome = await parts.ledger.withdrawProposal({ id, market });
  if (outcome.kind !== 'done') return refusalOf(outcome);
  const shown = await say(parts, condition, idText);
  if (shown instanceof OperationRefused) return shown;
  return { id: idText, condition, state: 'withdrawn', repeated: outcome.isRepeated };
}

async function dryRun(
  parts: ResolutionOperationParts,
  input: Resolution,
  isVoid: boolean,
  page: { readonly from: number; readonly limit: number; readonly isNamed: boolean },
): Promise<DryRun> {
  const { sequenceLock, t } = parts;
  if (!ledgerIsOn(t)) return LEDGER_OFF;
  if (isVoid && (input.payout ?? input.payouts) !== undefined) {
    const detail = 'void pays equal weights: it stands alone';
    return refusedField('void', detail);
  }
  const payout = payoutIn(parts, input, isVoid);
  if (payout instanceof OperationRefused) return payout;
  const { market, outcomes, weights } = payout;
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (weights.length !== outcomes.tokenIds.length || sum < 1 || sum > PAYOUT_SUM_MAX) {
    return refused('PAYOUT_INVALID');
  }
  const found = await sequenceLock.read(() =>
    resolutionOf(t, market) === undefined ? previewPayout(t, market, weights, page) : undefined,
  );
  if (found === undefined) return refused('MARKET_RESOLVED');
  const end = page.from + found.rows.length;
  const holders = found.outcomes.reduce((total, { wallets }) => total + wallets, 0);
  return {
    ...payoutShown(payout),
    rows: found.rows.map(({ account, outcome, paid, shares }) => {
      const address = wordsToHex(t.accountI, addressAt(account), ADDRESS_WORDS);
      return {
        wallet: addressText(t.accountI, addressAt(account)),
        name: page.isNamed ? parts.names.nameOf(address) : '',
        token_id: outcomes.tokenIds[outcome]!,
        outcome: outcomes.names[outcome] ?? '',
        shares: microText(shares),
        paid: microText(paid),
      };
    }),
    next: end < holders ? end : null,
    by_outcome: found.outcomes.map((each, i) => ({
      token_id: outcomes.tokenIds[i]!,
      outcome: outcomes.names[i] ?? '',
      wallets: each.wallets,
      shares: microText(each.shares),
      paid: microText(each.paid),
      venue_shares: microText(each.venueShares),
      venue_paid: microText(each.venuePaid),
    })),
    wallets: found.wallets,
    paid: microText(found.paid),
    venue_paid: microText(found.venuePaid),
    rounding: microText(found.rounding),
    open_orders: found.orders,
    released: microText(found.released),
  };
}

async function proposals(parts: ResolutionOperationParts): Promise<Proposals> {
  const { sequenceLock, slugOf, t } = parts;
  if (!ledgerIsOn(t)) return LEDGER_OFF;
  const found = await sequenceLock.read(() =>
    proposedMarkets(t).flatMap((market): (MarketProposal & { market: MarketRow })[] => {
      const proposal = proposalOf(t, market);
      return proposal === undefined ? [] : [{ ...proposal, market }];
    }),
  );
  found.sort((a, b) => a.deadline - b.deadline || a.market - b.market);
  return {
    proposals: found.map(({ deadline, isVoid, market, weights }) => ({
      ...payoutShown({
        condition: wordsToHex(t.marketI, conditionAt(market), ID_WORDS),
        outcomes: outcomesOf(t, market, parts.namesOf(market)),
        weights,
        isVoid,
      }),
      slug: slugOf(market) ?? '',
      deadline: new Date(deadline).toISOString(),
    })),
  };
}

function isNegRisk(t: Tables, market: MarketRow): boolean {
  return (marketFlags(t, market) & MarketFlag.negRisk) !== 0;
}

function groupWords(
  { eventOf, t }: ResolutionOperationParts,
  market: MarketRow,
  condition: string,
): Int32Array | undefined {
  if (!isNegRisk(t, market)) return undefined;
  const event = eventOf(condition);
  return event === undefined ? undefined : bytesToWords(groupOf(event), new Int32Array(ID_WORDS));
}
