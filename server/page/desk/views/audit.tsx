/** The audit log: every change that was made by an operator, newest first. */
import { Pages } from '../parts/pages.tsx';

const COLUMNS = ['id', 'time', 'actor', 'role', 'route', 'body', 'status', 'error'];

interface Log {
  readonly entries: readonly { readonly id: number }[];
}

export function Audit() {
  return (
    <div class="desk-page">
      <h1>Audit log</h1>
      <Pages
        of="GET /admin/audit"
        label="Changes, newest first"
        input={{}}
        columns={COLUMNS}
        pageOf={(answer) => {
          const { entries } = answer as unknown as Log;
          const last = entries.at(-1)?.id;
          return {
            rows: entries as never,
            next: last === undefined || last <= 1 ? undefined : { before: last },
          };
        }}
      />
    </div>
  );
}
