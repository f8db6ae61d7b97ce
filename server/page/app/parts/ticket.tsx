/** The ticket of a market: Yes or No, buy or sell, in money or shares, at the market or with a limit. */

import type { Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { PreviewAnswer } from '../../../../client/types.ts';
import { decimalsOf, moneyText, sharesText, signedMoneyText } from '../format.ts';
import { cash, shares as heldShares } from '../node/account.ts';
import type { Market } from '../node/markets.ts';
import { session } from '../node/session.ts';
import {
  type Fill,
  isUnmatched,
  type Kind,
  offerInstead,
  offerUnfilled,
  openTicket,
  type Side,
  SLIPPAGE_TICKS,
  type Ticket as State,
  type Stay,
  sendTicket,
} from '../node/ticket-state.ts';
import { Choices } from './choices.tsx';
import { GetWallet } from './get-wallet.tsx';
import { Problem } from './problem.tsx';

interface Shown {
  readonly market: Market;
  readonly outcome: Signal<number>;
  /** Price of a level that was clicked; '' before. */
  readonly chosenPrice: Signal<string>;
}

const SIDES: readonly { readonly value: Side; readonly text: string }[] = [
  { value: 'BUY', text: 'Buy' },
  { value: 'SELL', text: 'Sell' },
];
const KINDS: readonly { readonly value: Kind; readonly text: string }[] = [
  { value: 'Market', text: 'Market' },
  { value: 'Limit', text: 'Limit' },
];
const STAYS: readonly { readonly value: Stay; readonly text: string }[] = [
  { value: 'rest', text: 'Until cancelled' },
  { value: 'hour', text: 'For an hour' },
  { value: 'day', text: 'For a day' },
  { value: 'post', text: 'Only as an offer' },
];
const FILLS: readonly { readonly value: Fill; readonly text: string }[] = [
  { value: 'part', text: 'Take a part' },
  { value: 'all', text: 'All or nothing' },
];

const FIELD_IDS = { amount: 'ticket-amount', shares: 'ticket-shares' };

export function Ticket({ chosenPrice, market, outcome }: Shown) {
  const ticket = useMemo(() => openTicket(market, outcome), [market.id]);
  useEffect(() => () => ticket.stop(), [ticket]);
  useEffect(
    () =>
      chosenPrice.subscribe((price) => {
        if (price === '') return;
        ticket.kind.value = 'Limit';
        ticket.price.value = price;
        chosenPrice.value = '';
      }),
    [ticket],
  );
  const name = market.outcomes[outcome.value] ?? '';
  const sideText = ticket.side.value === 'BUY' ? 'Buy' : 'Sell';
  const isLimit = ticket.kind.value === 'Limit';
  const shown = ticket.preview.value;
  const isReady = session.value !== undefined && ticket.isPreviewed.value && shown?.reason === null;
  return (
    <form
      class="ticket"
      onSubmit={(event) => {
        // A key alone never sends: only the button's own click does.
        event.preventDefault();
      }}
    >
      <Choices
        legend="Outcome"
        name="outcome"
        value={outcome.value}
        options={market.outcomes.map((text, value) => ({ value, text }))}
        choose={(value) => {
          outcome.value = value;
        }}
      />
      <div class="pair">
        <Choices
          legend="Side"
          name="side"
          value={ticket.side.value}
          options={SIDES}
          choose={(value) => {
            ticket.side.value = value;
            ticket.driver.value = value === 'BUY' ? 'amount' : 'shares';
          }}
        />
        <Choices
          legend="Kind of order"
          name="kind"
          value={ticket.kind.value}
          options={KINDS}
          choose={(value) => {
            ticket.kind.value = value;
          }}
        />
      </div>
      {isLimit && (
        <NumberField
          label="Limit price"
          value={ticket.price}
          step={market.tick}
          write={(text) => {
            ticket.price.value = text;
          }}
        />
      )}
      <NumberField
        id={FIELD_IDS.amount}
        label="Amount"
        value={ticket.amount}
        step={0.01}
        write={(text) => {
          ticket.amount.value = text;
          ticket.driver.value = 'amount';
        }}
      />
      <NumberField
        id={FIELD_IDS.shares}
        label="Shares"
        value={ticket.shares}
        step={0.01}
        write={(text) => {
          ticket.shares.value = text;
          ticket.driver.value = 'shares';
        }}
      />
      <Held ticket={ticket} />
      {isLimit ? (
        <Select label="Stays in the book" value={ticket.stay} options={STAYS} />
      ) : (
        <>
          <Select label="If too little is offered" value={ticket.fill} options={FILLS} />
          <label class="field">
            <span>Price may move</span>
            <select
              value={ticket.slippage.value}
              onChange={({ currentTarget }) => {
                ticket.slippage.value = Number(currentTarget.value);
              }}
            >
              {SLIPPAGE_TICKS.map((ticks) => (
                <option key={ticks} value={ticks}>
                  by {(ticks * market.tick).toFixed(decimalsOf(market.tick))}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      <Summary ticket={ticket} name={name} />
      <Problem text={ticket.problem.value} />
      <button
        type="button"
        class="main wide"
        data-side={ticket.side.value}
        disabled={!isReady || ticket.isSending.value}
        onClick={() => void sendTicket(ticket).then(() => focusField(ticket))}
      >
        {sideText} {name}
      </button>
      {session.value === undefined && (
        <p class="muted">
          <GetWallet purpose="and trade with play money" />
        </p>
      )}
      {ticket.isSending.value && session.value?.wallet !== undefined && (
        <p class="muted">Confirm the order in {session.value.wallet.name}.</p>
      )}
      {session.value !== undefined && shown === undefined && ticket.problem.value === '' && (
        <p class="muted">
          Enter an amount of money, or a number of shares{isLimit && ', and a limit price'}.
        </p>
      )}
      {isUnmatched(ticket) && (
        <button type="button" class="plain wide" onClick={() => offerInstead(ticket)}>
          Offer it as a limit order instead
        </button>
      )}
      <Unfilled ticket={ticket} />
    </form>
  );
}

/** Offer of what the market order before has not filled. */
function Unfilled({ ticket }: { readonly ticket: State }) {
  const unfilled = ticket.unfilled.value;
  if (unfilled === undefined) return null;
  return (
    <button type="button" class="plain wide" onClick={() => void offerUnfilled(ticket)}>
      Offer the other {unfilled.size} shares of {unfilled.sent.name} at {unfilled.price}
    </button>
  );
}

/** Cash or shares of the wallet for this order. */
function Held({ ticket }: { readonly ticket: State }) {
  const funds = cash.value;
  if (ticket.side.value === 'SELL') {
    const token = ticket.market.tokens[ticket.outcome.value] ?? '';
    const held = heldShares.value.get(token) ?? 0;
    return (
      <p class="held muted">
        <span>You have {sharesText(held)} shares</span>
        <button
          type="button"
          class="link"
          disabled={held === 0}
          onClick={() => {
            ticket.driver.value = 'shares';
            ticket.shares.value = String(Math.floor(held * 100) / 100);
          }}
        >
          All
        </button>
      </p>
    );
  }
  if (funds === undefined || funds === 'unlimited') return null;
  return <p class="held muted">You can spend {moneyText(funds.free)}</p>;
}

function Summary({ name, ticket }: { readonly ticket: State; readonly name: string }) {
  const shown = ticket.preview.value;
  if (shown === undefined) {
    return (
      <p class="summary muted">
        A share of {name} pays 1.00 if {name} is the result, and nothing if not. What an order costs
        and can win stands here before it is sent.
      </p>
    );
  }
  const isBuy = ticket.side.value === 'BUY';
  const all = shown.ifAllFills;
  const isFilled = Number(shown.averagePrice) > 0;
  return (
    <dl class="summary tabular">
      <Line name="Average price" value={shown.averagePrice} />
      <Line name="Worst price" value={shown.worstPrice} />
      {isFilled && <Line name={isBuy ? 'Cost' : 'Proceeds'} value={money(shown.cost)} />}
      {isFilled && <Line name="Fee" value={feeText(shown)} />}
      <Line name={isBuy ? 'You pay' : 'You receive'} value={money(all.total)} isStrong />
      {isBuy && <Line name="Payout if right" value={money(all.payoutIfRight)} />}
      {isBuy && <Line name="Profit if right" value={signed(all.profitIfRight)} />}
      {isBuy && <Line name="Loss if wrong" value={money(all.lossIfWrong)} />}
      <Line name="Left" value={restText(shown)} />
    </dl>
  );
}

function feeText({ fee, feeIn }: PreviewAnswer): string {
  if (Number(fee) === 0) return moneyText(0);
  return feeIn === 'shares' ? `${fee} shares` : fee;
}

function restText({ rest }: PreviewAnswer): string {
  if (rest.fate === 'none') return '';
  const size = sharesText(Number(rest.size));
  return rest.fate === 'rests' ? `${size} rest as your offer` : `${size} not filled`;
}

function money(text: string): string {
  return text === '' ? '' : moneyText(Number(text));
}

function signed(text: string): string {
  return text === '' ? '' : signedMoneyText(Number(text));
}

/** Goes on where the reader wrote, unless that would open the keyboard of a phone. */
function focusField(ticket: State): void {
  if (matchMedia('(pointer: coarse)').matches) return;
  document.getElementById(FIELD_IDS[ticket.driver.peek()])?.focus();
}

/** Nothing where there is no value. */
function Line({
  isStrong = false,
  name,
  value,
}: {
  readonly name: string;
  readonly value: string;
  readonly isStrong?: boolean;
}) {
  if (value === '') return null;
  return (
    <div data-strong={isStrong || undefined}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function NumberField({
  id,
  label,
  step,
  value,
  write,
}: {
  readonly id?: string;
  readonly label: string;
  readonly value: Signal<string>;
  readonly step: number;
  write(text: string): void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        id={id}
        type="number"
        inputMode="decimal"
        min="0"
        step={step}
        value={value.value}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
    </label>
  );
}

function Select<T extends string>({
  label,
  options,
  value,
}: {
  readonly label: string;
  readonly value: Signal<T>;
  readonly options: readonly { readonly value: T; readonly text: string }[];
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select
        value={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.value as T;
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}
