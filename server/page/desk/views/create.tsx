/** Creation of events and markets, and the import of a catalog file with its report first. */
import { useSignal } from '@preact/signals';
import { Problem } from '../../app/parts/problem.tsx';
import { textOf } from '../../app/refusal-words.ts';
import { may, send } from '../node/operator.ts';
import { OperationForm } from '../parts/operation-form.tsx';
import { EventPreview, MarketPreview } from '../parts/preview.tsx';

const FIRST_OUTCOMES = 'Yes\nNo';
const CHECK = 'POST /admin/catalog/dry-run';
const IMPORT = 'POST /admin/catalog/import';

export function Create() {
  return (
    <div class="desk-page">
      <h1>Create</h1>
      <div class="desk-grid">
        <OperationForm
          of="POST /admin/markets"
          title="Create a market"
          first={{ outcomes: FIRST_OUTCOMES }}
          main={['question', 'outcomes', 'description', 'endDate', 'event', 'fee']}
          preview={(input) => <MarketPreview input={input} />}
        />
        <OperationForm
          of="POST /admin/events"
          title="Create an event"
          main={['title', 'description', 'endDate', 'tags', 'negRisk']}
          preview={(input) => <EventPreview input={input} />}
        />
        <OperationForm
          of="POST /admin/events/edit"
          title="Edit an event"
          main={['event', 'title', 'description', 'endDate', 'tags']}
          preview={(input) => <EventPreview input={input} />}
        />
        {may(IMPORT) && <Import />}
      </div>
    </div>
  );
}

interface Report {
  /** False: nothing is written, and `problems` say why. */
  readonly done: boolean;
  readonly report: readonly string[];
  readonly problems: readonly string[];
}

const OPTIONS = [
  { name: 'merge', text: 'Merge (--merge): what the file does not have stays' },
  {
    name: 'skipChanged',
    text: 'Leave out markets that contradict those that are registered (--skip-changed)',
  },
  { name: 'force', text: 'Open markets that the file lacks may go (--force)' },
  { name: 'strict', text: 'Refuse a file of which something would be left out (--strict)' },
] as const;

/** Applied only after its report has been read, with the same file and the same options. */
function Import() {
  const file = useSignal<Blob | undefined>(undefined);
  const options = useSignal<readonly string[]>(['merge']);
  const checked = useSignal<Report | undefined>(undefined);
  const applied = useSignal<Report | undefined>(undefined);
  const problem = useSignal('');
  const isSending = useSignal(false);
  const change = (): void => {
    checked.value = undefined;
    applied.value = undefined;
    problem.value = '';
  };
  const ask = async (key: typeof CHECK | typeof IMPORT): Promise<void> => {
    if (file.value === undefined) return;
    isSending.value = true;
    problem.value = '';
    const query = new URLSearchParams(options.value.map((option) => [option, 'true']));
    try {
      const answer = await send<Report>(key, query.size === 0 ? '' : `?${query}`, file.value);
      (key === IMPORT ? applied : checked).value = answer;
    } catch (error) {
      problem.value = textOf(error);
    } finally {
      isSending.value = false;
    }
  };
  const report = applied.value ?? checked.value;
  return (
    <form
      class="card desk-form"
      aria-label="Import a catalog"
      onSubmit={(event) => {
        event.preventDefault();
        void ask(checked.value?.done === true && applied.value === undefined ? IMPORT : CHECK);
      }}
    >
      <h2>Import a catalog</h2>
      <p class="muted">A catalog file in JSON. The node says first what it would change.</p>
      <label class="field">
        <span>File</span>
        <input
          type="file"
          accept=".json,application/json"
          required
          onChange={({ currentTarget }) => {
            file.value = currentTarget.files?.[0];
            change();
          }}
        />
      </label>
      {OPTIONS.map(({ name, text }) => (
        <label key={name} class="flag">
          <input
            type="checkbox"
            checked={options.value.includes(name)}
            onChange={({ currentTarget }) => {
              const others = options.value.filter((option) => option !== name);
              options.value = currentTarget.checked ? [...others, name] : others;
              change();
            }}
          />
          <span>{text}</span>
        </label>
      ))}
      <Problem text={problem.value} />
      {report !== undefined && (
        <div class="answer" role="status">
          <h3>{headOf(report, applied.value !== undefined)}</h3>
          <pre>{[...report.problems, ...report.report].join('\n')}</pre>
        </div>
      )}
      {applied.value === undefined && (
        <button type="submit" class="main" disabled={isSending.value}>
          {checked.value?.done === true ? 'Apply it' : 'Read its report'}
        </button>
      )}
    </form>
  );
}

function headOf({ done }: Report, isApplied: boolean): string {
  if (!done) return 'It is refused: nothing is written';
  return isApplied ? 'It is applied' : 'It would do this; nothing is written yet';
}
