/** Modes in which the node runs. */
import { publicClient } from '../../app/node/api.ts';
import { useLoaded } from '../../app/node/load.ts';
import { summary } from '../node/summary.ts';

export function Modes() {
  const { node } = summary.value ?? {};
  return node === undefined || node === null ? null : <Shown faults={node.faults} />;
}

function Shown({ faults }: { readonly faults: number | null }) {
  const client = useLoaded('modes', publicClient);
  if (client.value === undefined) return null;
  const { durability, mode, verify_signatures: isVerified } = client.value.info;
  const kinds = (['demo', 'mirror', 'play'] as const).filter((name) => mode[name]);
  const words = [
    `Durability ${durability}`,
    mode.ledger ? 'ledger on' : 'no ledger: nobody has balances',
    faults === null ? 'faults off' : `faults on, ${faults} in force`,
    mode.cluster ? 'in a cluster' : 'no cluster',
    ...kinds,
    ...(isVerified ? [] : ['signatures are not verified']),
  ];
  return (
    <p id="modes" class="modes muted">
      {words.join(' · ')}
    </p>
  );
}
