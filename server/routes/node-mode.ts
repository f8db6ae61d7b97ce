/** Mode of a node for its log, `GET /status` and `GET /exchange-info`. Pure. */
import { Type } from '../common/schema.ts';
import { flag } from './shorthand.ts';

export const NodeModeAnswer = Type.Object(
  {
    ledger: flag('cash and shares are kept (LEDGER)'),
    demo: flag('markets of the demo are open (DEMO)'),
    mirror: flag('books of another venue are mirrored (MIRROR_URL)'),
    play: flag('market time is that of a recording (PLAY)'),
    invites: flag('invitations are the only way in (INVITES)'),
    cluster: flag('several nodes share one log (CLUSTER)'),
  },
  { description: 'what kind of node this is' },
);

export type NodeMode = Readonly<Record<keyof typeof NodeModeAnswer.properties, boolean>>;

/** Returns a text such as `ledger on, demo on`: the ledger in any case, other modes only when on. */
export function modeText({ ledger, ...others }: NodeMode): string {
  const on = Object.entries(others).filter(([, applies]) => applies);
  return [`ledger ${ledger ? 'on' : 'off'}`, ...on.map(([name]) => `${name} on`)].join(', ');
}
