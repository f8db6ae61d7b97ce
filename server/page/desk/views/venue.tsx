/** The venue as a whole: forms in groups, and the accounts of the house. */
import { modes } from '../../app/node/api.ts';
import { useLoaded } from '../../app/node/load.ts';
import { type Group, otherForms, VENUE_GROUPS } from '../forms.ts';
import { readOperations } from '../node/operations.ts';
import { summary } from '../node/summary.ts';
import { HouseMarkets } from '../parts/liquidity.tsx';
import { OperationForm } from '../parts/operation-form.tsx';

export function Venue() {
  const operations = useLoaded('operations', readOperations);
  const { ledger = false, play = false } = modes.value ?? {};
  const has = {
    faults: (summary.value?.node?.faults ?? null) !== null,
    play,
  };
  const shown = VENUE_GROUPS.filter(({ needs }) => needs === undefined || has[needs]);
  const forms = operations.value === undefined ? [] : otherForms(operations.value);
  const others: Group[] = forms.length === 0 ? [] : [{ title: 'Other operations', forms }];
  return (
    <div class="desk-page">
      <h1>Venue</h1>
      {ledger && <HouseMarkets />}
      {[...shown, ...others].map((group) => (
        <section key={group.title} aria-label={group.title}>
          <h2>{group.title}</h2>
          <div class="desk-grid">
            {group.forms.map((form) => (
              <OperationForm key={form.of} {...form} />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}
