/**
 * POST /orders/preview: what an order would do if it came now, from the book and, with credentials, for the caller's
 * wallet. A read: nothing is placed, cancelled or reserved. Rules: docs/protocol.md#preview-of-an-order
 *
 * Thread: I/O. It reads applied state, which may be some milliseconds ahead of the log.
 */
import { findAgent } from '../../engine/ledger/agents.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import {
  FacingOrders,
  readFacing,
  readTerms,
  type Ticket,
} from '../../engine/orders/facing-orders.ts';
import { NEW_AGENT } from '../../engine/orders/match.ts';
import { type Payer, readPayer } from '../../engine/orders/payer.ts';
import { previewOrder } from '../../engine/orders/preview.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { lastBatch, marketFlags, tokenMarket, walletSigner } from '../../engine/reads.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import { ADDRESS_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, AgentRow, TokenRow } from '../../engine/tables/units.ts';
import type { KeyOwner } from '../auth/auth.ts';
import { checksumAddress } from '../auth/checksum.ts';
import type { WalletFactories } from '../auth/wallet-factory.ts';
import { bodyFault } from '../common/body-fault.ts';
import { parseMicroUp } from '../common/decimal.ts';
import { errorBody } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { REJECTS, type RefusalCode } from '../common/refusals.ts';
import { compileShape } from '../common/schema.ts';
import { bytesToHex, bytesToWords, sameBytes } from '../common/uint256.ts';
import type { RequestContext } from '../http/http.ts';
import { route } from '../http/route.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { codeOfState } from '../orders/worker/result-details.ts';
import { callerWallets } from './balance-allowance.ts';
import { answerOf, type Seen } from './preview-answer.ts';
import {
  PREVIEW_BOUNDS,
  PreviewAnswer,
  PreviewBody,
  type PreviewRequest,
} from './preview-schemas.ts';
import { refuseForeign, type WalletAccess } from './wallet-access.ts';

export interface PreviewParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly sequenceLock: SequenceLockReader;
  readonly factories: WalletFactories;
  readonly access: WalletAccess;
  /** @param address lower case */
  readonly isBanned: (address: string) => boolean;
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
}

const PLAIN = 0;
const ADDRESS_BYTES = 20;
const MS = 1_000;
const UNKNOWN_BOOK = errorBody('UNKNOWN_BOOK');
const ONE_OF = 'exactly one of amount (collateral) and size (shares) is needed';

const shape = compileShape(PreviewBody);

export const PREVIEW_ROUTES = [
  route(
    'POST /orders/preview',
    {
      access: 'level2-or-none',
      limits: ['preview', 'trading'],
      body: PreviewBody,
      bodyBounds: PREVIEW_BOUNDS,
      answer: PreviewAnswer,
      does: 'what an order would fill, cost and pay, the amounts to sign, and why it would be refused; with an API key for its wallet; places nothing',
    },
    (parts: PreviewParts) => {
      const previews = new Previews(parts);
      return (context, _query, caller) =>
        readJson(context, PREVIEW_BOUNDS, (sent) => previews.reply(context, sent, caller));
    },
  ),
];

/** Accounts of a caller: the wallet that would pay, and the address whose key signs, as its agent or not. */
interface Accounts {
  readonly wallet: Uint8Array;
  readonly account: AccountRow | 0;
  readonly owner: AccountRow | 0;
  readonly agent: AgentRow | 0;
}

/** Result of the read of everything but the book. */
interface Found {
  readonly batch: number;
  /** Code of a market in this state, where it takes no orders. */
  readonly state: RefusalCode;
  readonly negRisk: boolean;
  readonly isSeasonEnding: boolean;
  readonly account: AccountRow | 0;
  /** Account of the agent that would sign, in the meaning of mayEnd(). */
  readonly agent: number;
  /** Both undefined where nobody in particular asks. */
  readonly wallet?: Uint8Array;
  readonly payer?: Payer;
}

class Previews {
  private readonly parts: PreviewParts;
  private readonly walletsOf: ReturnType<typeof callerWallets>;
  /** Memory of one read, used again. */
  private readonly book = new FacingOrders();
  private readonly words = new Int32Array(ADDRESS_WORDS);

  constructor(parts: PreviewParts) {
    this.parts = parts;
    this.walletsOf = callerWallets(parts.factories);
  }

  async reply(context: RequestContext, sent: unknown, caller: KeyOwner | undefined): Promise<void> {
    if (!shape.matches(sent)) return context.reply(400, bodyFault(PreviewBody, shape.fault(sent)));
    const fault = faultOf(sent);
    if (fault !== undefined) return context.reply(400, fault);
    const { tables, texts, sequenceLock } = this.parts;
    const token = texts.find(sent.tokenId);
    if (token === 0) return context.reply(404, UNKNOWN_BOOK);
    const ticket = ticketOf(token, sent, this.parts.now());
    const named = sent.wallet;
    const payer =
      caller === undefined || named === undefined
        ? undefined
        : await this.parts.access.readable(named, caller.address);
    if (named !== undefined && payer === undefined) return refuseForeign(context);
    const seen = await sequenceLock.readWith(
      () => this.find(ticket, sent, caller, payer),
      (found) => this.see(ticket, found),
    );
    const { wallet } = seen;
    const texted = {
      tokenId: texts.tokenId(token),
      conditionId: texts.conditionId(tokenMarket(tables, token)),
      orderType: sent.orderType,
      expiration: sent.expiration ?? 0,
      wallet: wallet === undefined ? '' : checksumAddress(wallet),
    };
    context.reply(200, JSON.stringify(answerOf(seen, texted)));
  }

  /** Reads all but the book, in one state of the tables. */
  private find(
    ticket: Ticket,
    { signatureType = PLAIN }: PreviewRequest,
    caller: KeyOwner | undefined,
    named: Uint8Array | undefined,
  ): Found {
    const { tables } = this.parts;
    const { token } = ticket;
    readTerms(tables, ticket, this.book);
    const market = tokenMarket(tables, token);
    const found = {
      batch: lastBatch(tables),
      state: codeOfState(tables, market),
      negRisk: (marketFlags(tables, market) & MarketFlag.negRisk) !== 0,
      isSeasonEnding: seasonIsEnding(tables),
    };
    if (caller === undefined) return { ...found, account: 0, agent: 0 };
    const { account, agent, owner, wallet } = this.accountsOf(signatureType, caller.address, named);
    const isOwn = sameBytes(wallet, caller.address);
    const payer = readPayer(tables, account, owner, isOwn, token, agent, this.parts.now());
    const ender = agent === 0 ? 0 : owner || NEW_AGENT;
    return { ...found, account, agent: ender, wallet, payer };
  }

  /** Reads the book under its version; undefined where it has changed since. */
  private see(ticket: Ticket, found: Found) {
    const { book } = this;
    if (!readFacing(this.parts.tables, ticket, found.account, found.agent, book)) return undefined;
    const { batch, isSeasonEnding, negRisk, payer, wallet } = found;
    const order = previewOrder(ticket, book, payer);
    const preview = isSeasonEnding ? { ...order, reason: RejectReason.seasonEnding } : order;
    const seen: Seen = {
      ticket,
      preview,
      payer,
      code: this.codeOf(preview.reason, found.state, wallet),
      batch,
      grid: book.grid,
      minSize: book.minSize,
      baseFeeBps: book.baseFeeBps,
      hasSchedule: book.feeRate !== 0,
      takerDelay: book.takerDelay,
      isCut: book.isCut,
      negRisk,
    };
    return { value: { ...seen, wallet } };
  }

  /** Returns the code of the first rule that fails; of a market that takes no orders the one of its state. */
  private codeOf(
    reason: RejectReasonCode,
    state: RefusalCode,
    wallet: Uint8Array | undefined,
  ): RefusalCode | undefined {
    const isPaying = wallet !== undefined;
    if (isPaying && this.parts.isBanned(bytesToHex(wallet, 0, ADDRESS_BYTES))) {
      return 'ADDRESS_BANNED';
    }
    if (reason === RejectReason.accepted) return undefined;
    return reason === RejectReason.marketNotReady ? state : REJECTS[reason].code;
  }

  /**
   * Returns the first wallet of a signature type that has an account, or its usual one.
   * @param named wallet in place of those of the type
   */
  private accountsOf(
    signatureType: number,
    address: Uint8Array,
    named: Uint8Array | undefined,
  ): Accounts {
    const { tables } = this.parts;
    const owner = findAccount(tables, bytesToWords(address, this.words), 0);
    const wallets = named === undefined ? this.walletsOf(signatureType, address) : [named];
    for (const wallet of wallets) {
      const account = findAccount(tables, bytesToWords(wallet, this.words), 0);
      if (account === 0) continue;
      const agent = findAgent(tables, account, bytesToWords(address, this.words), 0);
      const isSigner = owner !== 0 && walletSigner(tables, account) === owner;
      return { wallet, account, owner, agent: isSigner ? 0 : agent };
    }
    return { wallet: wallets[0] ?? address, account: 0, owner, agent: 0 };
  }
}

/** Returns the body of a refusal for what no single member shows. */
function faultOf({ amount, orderType, price, size }: PreviewRequest): string | undefined {
  const isLimit = orderType === 'GTC' || orderType === 'GTD';
  if ((amount === undefined) === (size === undefined)) {
    return errorBody('INVALID_FIELD', ONE_OF, { text: 'invalid_field: amount' });
  }
  if (!isLimit || price !== undefined) return undefined;
  return errorBody('INVALID_FIELD', `${orderType} needs a price`, { text: 'invalid_field: price' });
}

function ticketOf(token: TokenRow, sent: PreviewRequest, now: number): Ticket {
  const { amount, expiration, orderType, postOnly = false, price, side, size } = sent;
  const micro = (text: string | undefined) => (text === undefined ? undefined : parseMicroUp(text));
  return {
    token,
    isBuy: side === 'BUY',
    isImmediate: orderType === 'FOK' || orderType === 'FAK',
    isWhole: orderType === 'FOK',
    postOnly,
    isExpired: orderType === 'GTD' && expiration !== undefined && expiration * MS <= now,
    price: micro(price),
    shares: micro(size),
    amount: micro(amount),
  };
}
