/**
 * The money of a load run where the node has a ledger: what each wallet got, split and traded has to be what it has,
 * reserved amounts too, and what all have together has to be what was paid in.
 * Thread: the tool's only one.
 * Non-goals: fees, withdrawals, resolutions.
 * Rules: docs/ledger.md
 */
import { level2 } from '../../client/credentials.ts';
import type { HttpClient } from '../../client/http.ts';
import { MICRO, microFromText, microText } from './load-amounts.ts';
import { BUY, SELL, type Side } from './load-book.ts';
import { ask } from './load-client.ts';
import type { Trader } from './load-keys.ts';
import { type Ledger, totalKey } from './load-ledger.ts';
import type { LoadMarket, LoadToken } from './load-market.ts';

/** All that a load pays in, whole units: below what a ledger can hold. */
const PAID_IN_MAX = 2_000_000_000;
const FAUCET_MAX = 10_000_000;

/** FAUCET of a node that the tool runs: no order of a load is too large for it. */
export function playMoney(wallets: number): number {
  return Math.min(FAUCET_MAX, Math.floor(PAID_IN_MAX / wallets));
}

/** Micro-units and micro-shares; `slack` as of Total. */
interface Holding {
  readonly total: bigint;
  readonly reserved: bigint;
  readonly slack: bigint;
}

interface AmountsReply {
  readonly total: string;
  readonly reserved: string;
  readonly free: string;
}

interface BalanceReply {
  readonly cash: AmountsReply;
  readonly positions: readonly (AmountsReply & { readonly token_id: string })[];
}

/** The sums that the admin listener tells, in micro-units. */
export type Sums = Readonly<Record<(typeof SUMS)[number], bigint>>;
const SUMS = ['deposited', 'cash', 'collateral', 'fees', 'rounding', 'imbalance'] as const;

/** The members of GET /admin/ledger that are amounts. */
export function sumsOf(reply: Readonly<Record<string, unknown>>): Sums {
  const entries = SUMS.map((name) => {
    const text = String(reply[name]);
    const micro = BigInt(microFromText(text.replace('-', '')));
    return [name, text.startsWith('-') ? -micro : micro];
  });
  return Object.fromEntries(entries) as Sums;
}

export class LoadMoney {
  readonly #traders: readonly Trader[];
  readonly #tokens: readonly LoadToken[];
  readonly #paidIn: bigint;
  readonly #sets: bigint;
  readonly #before: Sums | undefined;

  private constructor(
    traders: readonly Trader[],
    markets: readonly LoadMarket[],
    paidIn: bigint,
    sets: bigint,
    before: Sums | undefined,
  ) {
    this.#traders = traders;
    this.#tokens = markets.flatMap(({ tokens }) => tokens);
    this.#paidIn = paidIn;
    this.#sets = sets;
    this.#before = before;
  }

  /**
   * Splits half of what the wallets got with their keys into complete sets of every market.
   *
   * @param faucet whole units that each got
   * @param sums of the node, before that; undefined where nobody may ask for them
   */
  static async open(
    client: HttpClient,
    prefix: string,
    traders: readonly Trader[],
    markets: readonly LoadMarket[],
    faucet: number,
    sums: Sums | undefined,
  ): Promise<LoadMoney> {
    const sets = Math.floor(faucet / (2 * markets.length)) * MICRO;
    for (const trader of traders) {
      for (const { conditionId, index } of markets) {
        const id = `${Date.now()}-load-${index}`;
        const body = JSON.stringify({ conditionId, amount: String(sets), id });
        await askAs(client, prefix, trader, 'POST', '/split', body);
      }
    }
    const paidIn = BigInt(faucet) * BigInt(MICRO);
    return new LoadMoney(traders, markets, paidIn, BigInt(sets), sums);
  }

  /** Each wallet against what it was told, and the sums against what they follow from. */
  async compare(
    client: HttpClient,
    prefix: string,
    ledger: Ledger,
    sums: Sums | undefined,
  ): Promise<string[]> {
    const differences: string[] = [];
    for (const [account, trader] of this.#traders.entries()) {
      const path = '/ledger/balance';
      const reply = (await askAs(client, prefix, trader, 'GET', path)) as BalanceReply;
      const positions = new Map(reply.positions.map((each) => [each.token_id, each]));
      const differ = (what: string, node: AmountsReply | undefined, own: Holding): void => {
        if (isEqual(node, own)) return;
        const { reserved, total } = own;
        differences.push(
          `${path} of ${trader.wallet.address}: ${what}: node ${JSON.stringify(node)}, expected ` +
            `total ${total}, reserved ${reserved}`,
        );
      };
      differ('cash', reply.cash, this.#cash(account, ledger));
      for (const token of this.#tokens) {
        const { tokenId } = token;
        differ(`token ${tokenId}`, positions.get(tokenId), this.#shares(account, token, ledger));
        positions.delete(tokenId);
      }
      for (const tokenId of positions.keys()) {
        differences.push(`${path} of ${trader.wallet.address}: token ${tokenId}, never traded`);
      }
    }
    if (sums !== undefined) differences.push(...this.compareSums(sums, ledger));
    return differences;
  }

  /** Compares sums that hold at any time, also during a load. Without a ledger of orders nothing else is compared. */
  compareSums(sums: Sums, ledger?: Ledger): string[] {
    const differences: string[] = [];
    const expect = (what: string, node: bigint, own: bigint): void => {
      if (node === own) return;
      const [found, expected] = [node, own].map((each) => microText(Number(each)));
      differences.push(`/admin/ledger: ${what} ${found}, expected ${expected}`);
    };
    const { cash, collateral, deposited, fees, imbalance, rounding } = sums;
    const wallets = BigInt(this.#traders.length);
    const before = this.#before;
    if (before === undefined) return [];
    expect('deposited', deposited, before.deposited + wallets * this.#paidIn);
    expect('the sum of all', cash + collateral + fees + rounding, deposited);
    expect('imbalance', imbalance, 0n);
    if (ledger === undefined || ledger.counts.anonymous > 0) return differences;
    const owns = [...this.#traders.keys()];
    const own = owns.reduce((sum, account) => sum + this.#cash(account, ledger).total, 0n);
    expect('cash', cash, before.cash + own);
    let sets = 0n;
    for (const token of this.#tokens.filter(({ outcome }) => outcome === 0)) {
      for (const account of owns) sets += this.#shares(account, token, ledger).total;
    }
    expect('collateral', collateral, before.collateral + sets);
    expect('fees', fees, before.fees);
    return differences;
  }

  #cash(account: number, ledger: Ledger): Holding {
    let [total, reserved, slack] = [this.#paidIn, 0n, 0n];
    for (const token of this.#tokens) {
      if (token.outcome === 0) total -= this.#sets;
      const bought = sumOf(ledger, account, token, BUY);
      const sold = sumOf(ledger, account, token, SELL);
      total += sold.collateral - bought.collateral;
      slack += sold.slack + bought.slack;
      reserved += BigInt(token.book.reserved(account, token.slot, BUY));
    }
    return { total, reserved, slack };
  }

  #shares(account: number, token: LoadToken, ledger: Ledger): Holding {
    const bought = sumOf(ledger, account, token, BUY);
    const sold = sumOf(ledger, account, token, SELL);
    const reserved = BigInt(token.book.reserved(account, token.slot, SELL));
    return { total: this.#sets + bought.shares - sold.shares, reserved, slack: 0n };
  }
}

/** Returns amounts of a token that an account bought or sold, as a taker and as a maker. */
function sumOf(
  ledger: Ledger,
  account: number,
  token: LoadToken,
  side: Side,
): { shares: bigint; collateral: bigint; slack: bigint } {
  const sum = { shares: 0n, collateral: 0n, slack: 0n };
  for (const role of ['taker', 'maker'] as const) {
    const total = ledger.totals.get(totalKey(account, token, side, role));
    sum.shares += BigInt(total?.shares ?? 0);
    sum.collateral += BigInt(total?.collateral ?? 0);
    sum.slack += BigInt(total?.slack ?? 0);
  }
  return sum;
}

const NOTHING: AmountsReply = { total: '0', reserved: '0', free: '0' };

/** Compares amounts. A difference by rounding of anonymous orders appears in `free` and in `reserved` alike. */
function isEqual(node: AmountsReply = NOTHING, { reserved, slack, total }: Holding): boolean {
  const [has, holds, free] = [node.total, node.reserved, node.free].map(BigInt);
  const isNear = (a: bigint, b: bigint): boolean => (a > b ? a - b : b - a) <= slack;
  return isNear(has!, total) && isNear(holds!, reserved) && free === has! - holds!;
}

/** A request with the key of a trader. */
function askAs(
  client: HttpClient,
  prefix: string,
  { key, wallet }: Trader,
  method: 'GET' | 'POST',
  path: string,
  body = '',
): Promise<unknown> {
  const now = String(Math.floor(Date.now() / 1_000));
  const headers = level2(prefix, wallet.address, key, method, path, body, now);
  return ask(client, method, path, headers, body);
}
