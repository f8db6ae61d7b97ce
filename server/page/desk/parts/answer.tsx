/** The answer of an operation: objects as names with values, lists of objects as tables. All of it is text. */
import { NONE } from '../../app/format.ts';
import { Table } from '../../app/parts/table.tsx';
import { labelOf } from '../node/form.ts';

export type Row = Readonly<Record<string, unknown>>;

interface Answered {
  /** Name of its tables, for screen readers. */
  readonly label: string;
  readonly value: unknown;
}

export function Answer({ label, value }: Answered) {
  if (Array.isArray(value)) {
    return value.every(isRow) && value.length > 0 ? (
      <Rows label={label} rows={value} />
    ) : (
      <span>{value.length === 0 ? 'none' : value.map(plain).join(', ')}</span>
    );
  }
  if (!isRow(value)) return <span>{plain(value)}</span>;
  return (
    <dl class="rows tabular">
      {Object.entries(value).map(([name, member]) => (
        <div key={name}>
          <dt>{labelOf(name)}</dt>
          <dd>
            <Answer label={`${label}: ${labelOf(name)}`} value={member} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface Listed {
  /** Name of the table, for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  /** Columns in their order; absent: the members of the rows. */
  readonly columns?: readonly string[];
}

export function Rows({ columns, label, rows }: Listed) {
  const shown = columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length === 0) return <p class="muted">None.</p>;
  return (
    <Table label={label} columns={shown.map(labelOf)}>
      {rows.map((row, i) => (
        <tr key={i}>
          {shown.map((name) => (
            <td key={name}>{plain(row[name])}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plain(value: unknown): string {
  if (value === null || value === undefined || value === '') return NONE;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
