/**
 * The notation in which tests are written and failing streams are printed: one command a line, and
 * after two spaces or more what it must do. Prices are in the token of the order, amounts in shares
 * and units of collateral, `at` in seconds. Token 1 is Yes and token 2 is No of the first market.
 *
 *   sell #1 5 @ 0.61                 rests
 *   fees 1 0.07 1 0.2                done
 *   delay 1 3                        done
 *   settle 1                         done
 *   buy  #2 8 @ 0.61 fails 500 of 1  fills #1 5 @ 0.61 and fails, or `confirms`, after 500 milliseconds; of fault 1
 *   buy  #2 8 @ 0.61 by 7/9 FAK      fills #1 5 @ 0.61, gives 3.05, gets 5, kills 3
 *
 * An order without `by` is of the account that has its number.
 */

import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import {
  type BookView,
  type Command,
  comparableEnds,
  FAULTS,
  type Fault,
  NO_LIMIT,
  type OrderLine,
  type Outcome,
  type Policy,
  type Terms,
  type TypeName,
} from './naive-types.ts';

const MICRO_DIGITS = 6;
const TYPES: readonly string[] = ['GTC', 'GTD', 'FOK', 'FAK'];

const DEFAULT_TERMS: Terms = {
  grid: 100,
  baseFeeBps: 0,
  minSize: 0n,
  tradable: true,
  ended: false,
  negRisk: false,
};

export function micro(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new Error(`not an amount: ${text}`);
  const [, sign, whole = '0', fraction = ''] = match;
  const value = BigInt(whole + fraction.padEnd(MICRO_DIGITS, '0'));
  return sign === '-' ? -value : value;
}

export function decimal(value: bigint | number): string {
  const n = BigInt(value);
  const digits = (n < 0n ? -n : n).toString().padStart(MICRO_DIGITS + 1, '0');
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0+$/, '');
  const whole = (n < 0n ? '-' : '') + digits.slice(0, -MICRO_DIGITS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

const price = (pips: number): string => decimal(pips * 100);

/** Reads commands; keeps the terms of markets, so that a change may name only changed members. */
export class ScriptReader {
  readonly #terms = new Map<number, Terms>();

  read(text: string): Command {
    const words = new Words(text);
    const verb = words.take();
    switch (verb) {
      case 'buy':
      case 'sell':
        return readOrder(verb === 'buy' ? 'BUY' : 'SELL', words);
      case 'cancel':
        return { kind: 'cancel', id: words.takeId(), signer: words.numberAfter('by') };
      case 'cancel-all':
        return readCancelAll(words);
      case 'market': {
        const condition = words.takeNumber();
        const outcomes = words.peek() === 'outcomes' ? words.numberAfter('outcomes') : 2;
        const terms = readTerms(words, DEFAULT_TERMS);
        if (!this.#terms.has(condition)) this.#terms.set(condition, withoutEnd(terms));
        return { kind: 'market', condition, outcomes, ...terms };
      }
      case 'change': {
        const market = words.takeNumber();
        const terms = readTerms(words, this.#terms.get(market) ?? DEFAULT_TERMS);
        this.#terms.set(market, withoutEnd(terms));
        return { kind: 'change', market, ...terms };
      }
      case 'fees': {
        const condition = words.takeNumber();
        const rate = Number(micro(words.take()));
        const exponent = words.takeNumber();
        const rebate = Number(micro(words.peek() === undefined ? '0' : words.take()));
        return { kind: 'fees', condition, rate, exponent, rebate };
      }
      case 'delay':
        return { kind: 'delay', condition: words.takeNumber(), seconds: words.takeNumber() };
      case 'settle':
        return { kind: 'settle', fault: words.takeNumber() };
      case 'policy':
        return { kind: 'policy', policy: words.take() as Policy };
      case 'at':
        return { kind: 'at', time: Number(micro(words.take()) / 1_000n) };
      default:
        throw new Error(`not a command: ${text}`);
    }
  }
}

class Words {
  readonly #words: string[];

  constructor(text: string) {
    this.#words = text.trim().split(/\s+/);
  }

  peek(): string | undefined {
    return this.#words[0];
  }

  take(): string {
    const word = this.#words.shift();
    if (word === undefined) throw new Error('a line ends too early');
    return word;
  }

  takeNumber(): number {
    return Number(this.take());
  }

  takeId(): number {
    return Number(this.take().slice(1));
  }

  numberAfter(name: string): number {
    const word = this.take();
    if (word !== name) throw new Error(`${name} expected, not ${word}`);
    return this.takeNumber();
  }
}

function readOrder(side: 'BUY' | 'SELL', words: Words): OrderLine {
  const id = words.takeId();
  const shares = micro(words.take());
  const how = words.take();
  const amount = micro(words.take());
  const order = {
    kind: 'order' as const,
    id,
    token: 1,
    side,
    type: 'GTC' as TypeName,
    postOnly: false,
    shares,
    collateral: how === '@' ? (shares * amount) / 1_000_000n : amount,
    expiration: 0,
    feeRateBps: 0,
    maker: id,
    signer: id,
    signatureType: 0,
    faults: [] as Fault[],
  };
  let derived: Pick<OrderLine, 'derived'> = {};
  let foreign: Pick<OrderLine, 'foreign'> = {};
  let delay: Pick<OrderLine, 'delay'> = {};
  let later: Pick<OrderLine, 'settlement'> = {};
  while (words.peek() !== undefined) {
    const word = words.take();
    if (word === 'Yes' || word === 'No') order.token = word === 'Yes' ? 1 : 2;
    else if (word === 'token') order.token = words.takeNumber();
    else if (word === 'until') order.expiration = words.takeNumber();
    else if (word === 'fee') order.feeRateBps = words.takeNumber();
    else if (word === 'type') order.signatureType = words.takeNumber();
    else if (word === 'delay') delay = { delay: words.takeNumber() };
    else if (word === 'fails' || word === 'confirms') {
      const ms = words.takeNumber();
      const fault = words.peek() === 'of' ? words.numberAfter('of') : 0;
      later = { settlement: { ms, fails: word === 'fails', fault } };
    } else if (word === 'post-only') order.postOnly = true;
    else if (word === 'derived') derived = { derived: true };
    else if (word === 'foreign') foreign = { foreign: true };
    else if (TYPES.includes(word)) order.type = word as TypeName;
    else if (FAULTS.includes(word as Fault)) order.faults.push(word as Fault);
    else if (word === 'by') {
      const [maker, signer] = words.take().split('/');
      order.maker = Number(maker);
      order.signer = Number(signer ?? maker);
      order.signatureType = order.maker === order.signer ? 0 : 1;
    } else throw new Error(`not part of an order: ${word}`);
  }
  return { ...order, ...derived, ...foreign, ...delay, ...later };
}

function readCancelAll(words: Words): Command {
  const scope = { signer: words.numberAfter('by'), market: 0, token: 0, limit: NO_LIMIT };
  while (words.peek() !== undefined) {
    const word = words.take();
    if (word === 'market') scope.market = words.takeNumber();
    else if (word === 'token') scope.token = words.takeNumber();
    else if (word === 'limit') scope.limit = words.takeNumber();
    else throw new Error(`not part of a cancel: ${word}`);
  }
  return { kind: 'cancel-all', ...scope };
}

/** Terms without the end, which a change names itself. */
function withoutEnd({ end: _, ...terms }: Terms): Terms {
  return terms;
}

function readTerms(words: Words, before: Terms): Terms {
  const terms: { -readonly [K in keyof Terms]: Terms[K] } = { ...before };
  while (words.peek() !== undefined) {
    const word = words.take();
    if (word === 'grid') terms.grid = words.takeNumber();
    else if (word === 'fee') terms.baseFeeBps = words.takeNumber();
    else if (word === 'min') terms.minSize = micro(words.take());
    else if (word === 'neg-risk') terms.negRisk = true;
    else if (word === 'end') terms.end = Number(micro(words.take()) / 1_000n);
    else if (word === 'open' || word === 'paused' || word === 'ended') {
      terms.tradable = word === 'open';
      terms.ended = word === 'ended';
    } else throw new Error(`not part of a market: ${word}`);
  }
  return terms;
}

/** A command in the notation, complete: reading it gives the command again. */
export function commandText(command: Command): string {
  switch (command.kind) {
    case 'order':
      return orderText(command);
    case 'cancel':
      return `cancel #${command.id} by ${command.signer}`;
    case 'cancel-all': {
      const ofMarket = command.market === 0 ? '' : ` market ${command.market}`;
      const ofToken = command.token === 0 ? '' : ` token ${command.token}`;
      const limit = command.limit === NO_LIMIT ? '' : ` limit ${command.limit}`;
      return `cancel-all by ${command.signer}${ofMarket}${ofToken}${limit}`;
    }
    case 'market':
      return `market ${command.condition} outcomes ${command.outcomes} ${termsText(command)}`;
    case 'change':
      return `change ${command.market} ${termsText(command)}`;
    case 'level':
    case 'print':
    case 'fill':
      return JSON.stringify(command);
    case 'fees': {
      const [rate, rebate] = [decimal(command.rate), decimal(command.rebate)];
      return `fees ${command.condition} ${rate} ${command.exponent} ${rebate}`;
    }
    case 'delay':
      return `delay ${command.condition} ${command.seconds}`;
    case 'settle':
      return `settle ${command.fault}`;
    case 'policy':
      return `policy ${command.policy}`;
    case 'at':
      return `at ${decimal(command.time * 1_000)}`;
  }
}

function orderText(o: OrderLine): string {
  const words = [
    o.side === 'BUY' ? 'buy' : 'sell',
    `#${o.id} ${decimal(o.shares)} for ${decimal(o.collateral)} token ${o.token}`,
    `by ${o.maker}/${o.signer} type ${o.signatureType} ${o.type}`,
  ];
  if (o.postOnly) words.push('post-only');
  if (o.expiration !== 0) words.push(`until ${o.expiration}`);
  if (o.feeRateBps !== 0) words.push(`fee ${o.feeRateBps}`);
  if (o.derived === true) words.push('derived');
  if (o.foreign === true) words.push('foreign');
  if (o.delay !== undefined) words.push(`delay ${o.delay}`);
  if (o.settlement !== undefined) {
    const { fails, fault, ms } = o.settlement;
    words.push(`${fails ? 'fails' : 'confirms'} ${ms} of ${fault}`);
  }
  return [...words, ...o.faults].join(' ');
}

function termsText(terms: Terms): string {
  const phase = terms.ended ? 'ended' : terms.tradable ? 'open' : 'paused';
  const negRisk = terms.negRisk ? ' neg-risk' : '';
  const min = decimal(terms.minSize);
  const end = terms.end === undefined ? '' : ` end ${decimal(terms.end * 1_000)}`;
  return `grid ${terms.grid} fee ${terms.baseFeeBps} min ${min} ${phase}${negRisk}${end}`;
}

const REJECT_REASON_NAMES = new Map<number, string>(
  Object.entries(RejectReason).map(([name, n]) => [n, name]),
);

/**
 * Clauses of a command's outcome: `rests`, `fills #1 5 @ 0.61`, `kills 3`, `ends #1 tickChange`,
 * `refused tick`, `done`. Clauses of money (gives, gets, fee, legs) stand apart: a script names
 * them where they matter.
 */
export function outcomeClauses(
  command: Command,
  outcome: Outcome,
): { main: string[]; money: string[] } {
  const main: string[] = [];
  if (outcome.reason !== RejectReason.accepted)
    main.push(`refused ${REJECT_REASON_NAMES.get(outcome.reason)}`);
  for (const f of outcome.fills) {
    main.push(`${f.kind} #${f.maker} ${decimal(f.size)} @ ${price(f.takerPrice)}`);
  }
  const filledUp = new Set(outcome.fills.flatMap((f) => [f.maker, f.taker]));
  for (const end of comparableEnds(command, outcome)) {
    const isTaker = command.kind === 'order' && end.id === command.id;
    if (isTaker && BigInt(end.remaining) > 0n) {
      main.push(`${end.reason === 'fakRemainder' ? 'kills' : 'cancels'} ${decimal(end.remaining)}`);
    } else if (!isTaker && !(filledUp.has(end.id) && end.reason === 'filled')) {
      main.push(`ends #${end.id} ${end.reason}`);
    }
  }
  if (command.kind === 'order' && outcome.reason === RejectReason.accepted) {
    const hasEnded = outcome.ended.some((end) => end.id === command.id);
    if (!hasEnded) main.push(outcome.waits ? 'waits' : 'rests');
  } else if (main.length === 0) main.push('done');
  const fees = outcome.fills.reduce((sum, f) => sum + BigInt(f.fee), 0n);
  const legs = outcome.fills.map(
    (f) => `legs ${decimal(f.takerCollateral)} / ${decimal(f.makerCollateral)}`,
  );
  const money = [`gives ${decimal(outcome.making)}`, `gets ${decimal(outcome.taking)}`];
  return { main, money: [...money, `fee ${decimal(fees)}`, ...legs] };
}

/** `bids 5 @ 0.39, 3 @ 0.4; asks none`: best level last, as in POST /books. */
export function depthText(book: BookView): string {
  const side = (levels: BookView['bids']): string =>
    levels.map(([p, size]) => `${decimal(size)} @ ${price(p)}`).join(', ') || 'none';
  return `bids ${side(book.bids)}; asks ${side(book.asks)}`;
}

export function lastText(book: BookView): string {
  return book.lastPrice === 0 ? 'none' : `${price(book.lastPrice)} ${book.lastSide}`;
}
