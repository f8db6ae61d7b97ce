/**
 * Balance stream of a wallet, for users who request it: one stream message for each row that a flushed batch touched,
 * cash or the shares of a token, with the balance after the batch. The numbers come from the records of the batch,
 * because the tables are those of a later one. Rules: docs/ledger.md#balance-events
 *
 * Thread: the I/O thread.
 */

import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { addressAt, walletSigner } from '../../engine/reads.ts';
import { EntryCause } from '../../engine/tables/codes.ts';
import type { AccountRow, TokenRow } from '../../engine/tables/units.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import type { Names } from './names.ts';
import { BALANCES, type ReplayBuffer, type User } from './replay-buffer.ts';

const CASH = 0;
/** More than there are rows of tokens. */
const TOKENS = 2 ** 24;
const NOBODY: readonly User[] = [];

/** Balance of cash or of a token after a batch, in micro-units. */
interface Balance {
  readonly users: readonly User[];
  readonly account: AccountRow;
  readonly token: TokenRow | 0;
  readonly total: number;
  readonly reserved: number;
}

type Recipients = Pick<ReplayBuffer, 'hasBalances' | 'find' | 'append'>;

export class BalanceFeed {
  private readonly names: Names;
  private readonly replayBuffer: Recipients;
  private readonly changed = new Map<number, Balance>();
  private readonly followers = new Map<AccountRow, readonly User[]>();

  constructor(names: Names, replayBuffer: Recipients) {
    this.names = names;
    this.replayBuffer = replayBuffer;
  }

  flushed(batch: Pick<AppliedBatch, 'events' | 'eventsF' | 'sequence' | 'time'>): void {
    const { events, eventsF } = batch;
    if (!this.replayBuffer.hasBalances) return;
    this.changed.clear();
    this.followers.clear();
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      const kind = events[at]!;
      if (kind !== EventKind.entry && kind !== EventKind.reserved) continue;
      const account = events[at + Event.account]! as AccountRow | 0;
      // Fees of the node belong to no wallet.
      if (account === 0) continue;
      const users = this.usersOf(account);
      if (users.length === 0) continue;
      const token = events[at + Event.token]! as TokenRow | 0;
      const d = at / 2;
      const note = (of: TokenRow | 0, total: number, reserved: number): void => {
        const row = { users, account, token: of };
        const amounts = { total: eventsF[d + total]!, reserved: eventsF[d + reserved]! };
        this.changed.set(account * TOKENS + of, { ...row, ...amounts });
      };
      if (kind === EventKind.reserved) {
        note(token, Event.total, Event.reserved);
        continue;
      }
      // A fill may free cash that its maker reserved, also where it moves none.
      const isTrade = events[at + Event.cause] === EntryCause.trade;
      if (isTrade || eventsF[d + Event.cash] !== 0) note(CASH, Event.cashAfter, Event.cashReserved);
      if (token !== CASH) note(token, Event.sharesAfter, Event.sharesReserved);
    }
    for (const balance of this.changed.values()) this.publish(balance, batch);
  }

  private publish(
    balance: Balance,
    { sequence, time }: Pick<AppliedBatch, 'sequence' | 'time'>,
  ): void {
    const body = this.body(balance, time);
    for (const user of balance.users) this.replayBuffer.append(user, BALANCES, body, sequence);
  }

  /** Body without braces and envelope, as all messages in the replay buffer. */
  private body({ account, reserved, token, total }: Balance, time: number): string {
    const { names } = this;
    const of =
      token === CASH
        ? { asset_type: 'COLLATERAL', token_id: '', market: '' }
        : { asset_type: 'CONDITIONAL', ...this.ofToken(token) };
    const event = {
      event_type: 'balance',
      wallet: names.wallet(account),
      ...of,
      total: String(total),
      reserved: String(reserved),
      free: String(total - reserved),
      timestamp: String(time),
    };
    return JSON.stringify(event).slice(1, -1);
  }

  private ofToken(token: TokenRow): { readonly token_id: string; readonly market: string } {
    const { condition, id } = this.names.token(token);
    return { token_id: id, market: condition };
  }

  private usersOf(account: AccountRow): readonly User[] {
    const known = this.followers.get(account);
    if (known !== undefined) return known;
    const signer = walletSigner(this.names.tables, account);
    const own = this.userOf(account);
    const signing = signer === 0 || signer === account ? NOBODY : this.userOf(signer);
    const users = signing.length === 0 ? own : [...own, ...signing];
    this.followers.set(account, users);
    return users;
  }

  private userOf(account: AccountRow): readonly User[] {
    const user = this.replayBuffer.find(this.names.tables.accountI, addressAt(account));
    return user?.followsBalances === true ? [user] : NOBODY;
  }
}
