/** A list that the node gives in pages: the rows so far, and a button for the next ones. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { textOf } from '../../app/refusal-words.ts';
import { call } from '../node/operator.ts';
import { Rows } from './answer.tsx';

type Row = Readonly<Record<string, unknown>>;

export interface Page {
  readonly rows: readonly Row[];
  /** Input of the next page; undefined after the last one. */
  readonly next: object | undefined;
}

interface Shown {
  readonly of: string;
  /** Name of the table. */
  readonly label: string;
  readonly input: object;
  readonly columns?: readonly string[];
  readonly pageOf: (answer: Row) => Page;
  /** Rises when it has to be read again. */
  readonly version?: number;
}

export function Pages({ columns, input, label, of, pageOf, version }: Shown) {
  const rows = useSignal<readonly Row[] | undefined>(undefined);
  const next = useSignal<object | undefined>(undefined);
  const problem = useSignal('');
  const asked = JSON.stringify([of, input, version]);
  const read = async (more: object, isCurrent: () => boolean): Promise<void> => {
    try {
      const page = pageOf(await call<Row>(of, { ...input, ...more }));
      if (!isCurrent()) return;
      rows.value = [...(rows.peek() ?? []), ...page.rows];
      next.value = page.next;
      problem.value = '';
    } catch (error) {
      if (isCurrent()) problem.value = textOf(error);
    }
  };
  useEffect(() => {
    let isOver = false;
    rows.value = undefined;
    next.value = undefined;
    void read({}, () => !isOver);
    return () => {
      isOver = true;
    };
  }, [asked]);
  return (
    <div class="card desk-form">
      <h2>{label}</h2>
      {problem.value !== '' && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {rows.value !== undefined && (
        <Rows label={label} rows={rows.value} {...(columns === undefined ? {} : { columns })} />
      )}
      {next.value !== undefined && (
        <button type="button" class="plain" onClick={() => void read(next.peek()!, () => true)}>
          More
        </button>
      )}
    </div>
  );
}
