/** A list that the node gives in pages: the rows so far, and a button for the next ones. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Problem } from '../../app/parts/problem.tsx';
import { textOf } from '../../app/refusal-words.ts';
import { call } from '../node/operator.ts';
import { type Row, Rows } from './answer.tsx';

interface Page {
  readonly rows: readonly Row[];
  /** Input of the next page; undefined after the last one. */
  readonly next: object | undefined;
}

export interface List<Answer> {
  /** Method and path of the operation. */
  readonly of: string;
  /** Name of the table. */
  readonly label: string;
  readonly columns: readonly string[];
  /** @param before number of rows of the pages before */
  pageOf(answer: Answer, before: number): Page;
}

interface Shown<Answer> {
  readonly list: List<Answer>;
  readonly input?: object;
  /** Rises when it has to be read again. */
  readonly version?: number;
}

export function Pages<Answer>({ input, list, version }: Shown<Answer>) {
  const { columns, label, of, pageOf } = list;
  const rows = useSignal<readonly Row[] | undefined>(undefined);
  const next = useSignal<object | undefined>(undefined);
  const problem = useSignal('');
  const asked = JSON.stringify([of, input, version]);
  const read = async (more: object, isCurrent: () => boolean): Promise<void> => {
    try {
      const before = rows.peek() ?? [];
      const page = pageOf(await call<Answer>(of, { ...input, ...more }), before.length);
      if (!isCurrent()) return;
      rows.value = [...before, ...page.rows];
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
      {problem.value !== '' && <Problem text={problem.value} />}
      {rows.value !== undefined && <Rows label={label} rows={rows.value} columns={columns} />}
      {next.value !== undefined && (
        <button type="button" class="plain" onClick={() => void read(next.peek()!, () => true)}>
          More
        </button>
      )}
    </div>
  );
}
