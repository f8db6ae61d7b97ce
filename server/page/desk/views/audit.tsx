/** The audit log: every change that was made by an operator, newest first. */
import type { Row } from '../parts/answer.tsx';
import { type List, Pages } from '../parts/pages.tsx';

const ENTRIES: List<{ readonly entries: readonly (Row & { readonly id: number })[] }> = {
  of: 'GET /admin/audit',
  label: 'Changes, newest first',
  columns: ['id', 'time', 'actor', 'role', 'route', 'body', 'status', 'error'],
  pageOf({ entries }) {
    const last = entries.at(-1)?.id;
    return {
      rows: entries,
      next: last === undefined || last <= 1 ? undefined : { before: last },
    };
  },
};

export function Audit() {
  return (
    <div class="desk-page">
      <h1>Audit log</h1>
      <Pages list={ENTRIES} />
    </div>
  );
}
