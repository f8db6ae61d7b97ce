/**
 * The payout of a market: the operator chooses it, sees who is paid how much, and types the name of the market. Only what was
 * previewed is sent.
 */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useLoaded } from '../../app/node/load.ts';
import type { Market } from '../../app/node/markets.ts';
import { notify } from '../../app/notices.ts';
import { Choices } from '../../app/parts/choices.tsx';
import { Fact } from '../../app/parts/fact.tsx';
import { TextField } from '../../app/parts/field.tsx';
import { MarketOutcome } from '../../app/parts/market-outcome.tsx';
import { Problem, Waiting } from '../../app/parts/problem.tsx';
import { textOf } from '../../app/refusal-words.ts';
import { newRequestId } from '../node/form.ts';
import { call, may } from '../node/operator.ts';
import { Rows } from '../parts/answer.tsx';
import { OperationForm } from '../parts/operation-form.tsx';
import { readNamed } from './market.tsx';

const READ_AGAIN_MS = 3_000;

export function Resolve({ id }: { readonly id: string }) {
  const market = useLoaded(`market:${id}`, () => readNamed(id), READ_AGAIN_MS);
  if (market.value === undefined) return <Waiting of={market} />;
  if (market.value === null) return <h1>There is no such market</h1>;
  const { conditionId, proposed, question, resolution } = market.value;
  return (
    <div class="resolve">
      <header class="market-head">
        <p class="muted">
          <a href={`#${id}`}>Back to the market</a>
        </p>
        <h1 id="question">Resolve: {question}</h1>
        <MarketOutcome market={market.value} />
      </header>
      {proposed !== undefined && (
        <OperationForm
          of="POST /admin/markets/withdraw-proposal"
          title="Take the proposal back"
          fixed={{ condition: conditionId }}
          done={market.reload}
        />
      )}
      {resolution === undefined && <Decide market={market.value} reload={market.reload} />}
    </div>
  );
}

interface Decided {
  readonly market: Market;
  reload(): void;
}

/** Answer of the preview. */
interface Preview {
  readonly by_outcome: readonly Readonly<Record<string, unknown>>[];
  readonly wallets: number;
  readonly paid: string;
  readonly venue_paid: string;
  readonly rounding: string;
  readonly open_orders: number;
  readonly released: string;
  readonly rows?: readonly Payee[];
  readonly next?: number | null;
}

interface Payee extends Readonly<Record<string, unknown>> {
  readonly wallet: string;
}

/** Previewed payout, and what was previewed of it. */
interface Chosen {
  readonly payout: object;
  readonly shown: Preview;
}

const VOID = -1;
const WEIGHTS = -2;

function Decide({ market, reload }: Decided) {
  const { conditionId: condition, outcomes, question } = market;
  const choice = useSignal<number | undefined>(undefined);
  const weights = useSignal<readonly string[]>(outcomes.map(() => ''));
  const chosen = useSignal<Chosen | undefined>(undefined);
  const problem = useSignal('');
  const typed = useSignal('');
  const note = useSignal('');
  const review = useSignal('');
  const isSending = useSignal(false);
  const requestId = useRef(newRequestId());
  const change = (): void => {
    chosen.value = undefined;
    typed.value = '';
    problem.value = '';
    requestId.current = newRequestId();
  };
  const payoutOf = (): object => {
    if (choice.value === VOID) return { void: true };
    if (choice.value === WEIGHTS) return { payout: weights.value.map(Number) };
    return { payout: outcomes.map((_, i) => Number(i === choice.value)) };
  };
  const run = async (work: () => Promise<void>): Promise<void> => {
    isSending.value = true;
    problem.value = '';
    try {
      await work();
    } catch (error) {
      problem.value = textOf(error);
    } finally {
      isSending.value = false;
    }
  };
  const preview = (): Promise<void> =>
    run(async () => {
      const payout = payoutOf();
      const shown = await call<Preview>('POST /admin/markets/dry-run', { condition, ...payout });
      chosen.value = { payout, shown };
    });
  const readMore = ({ payout, shown }: Chosen): Promise<void> =>
    run(async () => {
      const place = { condition, ...payout, after: shown.next };
      const { next, rows = [] } = await call<Preview>('POST /admin/markets/dry-run', place);
      const all = { ...shown, rows: [...(shown.rows ?? []), ...rows], next: next ?? null };
      chosen.value = { payout, shown: all };
    });
  const resolve = ({ payout }: Chosen): Promise<void> =>
    run(async () => {
      const isVoid = 'void' in payout;
      await call(isVoid ? 'POST /admin/markets/void' : 'POST /admin/markets/resolve', {
        condition,
        ...(isVoid ? {} : payout),
        confirm: true,
        id: requestId.current,
        ...(note.value.trim() === '' ? {} : { note: note.value.trim() }),
        ...(review.value === '' ? {} : { review: Number(review.value) }),
      });
      notify(
        'good',
        `${question}: ${review.value === '' ? 'is paid out' : 'a payout is proposed'}`,
      );
      change();
      reload();
    });
  if (!may('POST /admin/markets/resolve')) return null;
  const options = [
    ...outcomes.map((text, value) => ({ value, text })),
    { value: VOID, text: 'Void' },
    { value: WEIGHTS, text: 'By weights' },
  ];
  return (
    <>
      <form
        class="card desk-form"
        aria-label="Payout"
        onSubmit={(event) => {
          event.preventDefault();
          void preview();
        }}
      >
        <h2>Who wins</h2>
        <Choices
          legend="Payout"
          name="payout"
          value={choice.value ?? Number.NaN}
          options={options}
          choose={(value) => {
            choice.value = value;
            change();
          }}
        />
        {choice.value === VOID && <p class="muted">A share of each outcome pays the same.</p>}
        {choice.value === WEIGHTS &&
          outcomes.map((name, i) => (
            <label key={name} class="field">
              <span>Weight of {name}</span>
              <input
                type="number"
                min="0"
                step="1"
                required
                value={weights.value[i]}
                onInput={({ currentTarget }) => {
                  weights.value = weights.value.with(i, currentTarget.value);
                  change();
                }}
              />
            </label>
          ))}
        <Problem text={problem.value} />
        <button type="submit" class="main" disabled={choice.value === undefined || isSending.value}>
          Show who is paid
        </button>
      </form>
      {chosen.value !== undefined && (
        <>
          <Payees shown={chosen.value.shown} more={() => void readMore(chosen.value!)} />
          <form
            class="card desk-form"
            aria-label="Pay it out"
            onSubmit={(event) => {
              event.preventDefault();
              if (typed.value === question) void resolve(chosen.value!);
            }}
          >
            <h2>Pay it out, for good</h2>
            <TextField label="Note for the traders (optional)" maxLength={280} text={note} />
            <TextField
              label="Seconds as a proposal first (optional)"
              type="number"
              min="1"
              step="1"
              text={review}
            />
            <TextField
              id="typed-name"
              label="Type the name of the market"
              placeholder={question}
              text={typed}
            />
            <button
              type="submit"
              class="main"
              disabled={typed.value !== question || isSending.value}
            >
              Pay {chosen.value.shown.paid} to {chosen.value.shown.wallets} wallets
            </button>
          </form>
        </>
      )}
    </>
  );
}

interface Listed {
  readonly shown: Preview;
  more(): void;
}

function Payees({ more, shown }: Listed) {
  const { by_outcome, next, open_orders, paid, released, rounding, rows, venue_paid, wallets } =
    shown;
  return (
    <section class="card desk-form" aria-label="Who is paid">
      <h2>Who is paid</h2>
      <dl class="facts tabular">
        <Fact name="Paid in all" value={paid} />
        <Fact name="Wallets" value={String(wallets)} />
        <Fact name="To the venue" value={venue_paid} />
        <Fact name="Rounding" value={rounding} />
        <Fact name="Orders that end" value={String(open_orders)} />
        <Fact name="Released by them" value={released} />
      </dl>
      <Rows
        label="Sums by outcome"
        columns={['outcome', 'wallets', 'shares', 'paid', 'venue_paid']}
        rows={by_outcome}
      />
      {rows !== undefined && (
        <Rows
          label="Payments"
          columns={['wallet', 'name', 'outcome', 'shares', 'paid']}
          rows={rows}
        />
      )}
      {typeof next === 'number' && (
        <button type="button" class="plain" onClick={more}>
          More
        </button>
      )}
    </section>
  );
}
