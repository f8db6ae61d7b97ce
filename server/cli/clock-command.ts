/** `clock accept`: makes a running node trust the clock of its machine again. */

import { Refused, type Run } from './context.ts';
import { answerOf, baseOf } from './node-request.ts';
import { tokenOf } from './operate.ts';

const MS = 1_000;

export const accept: Run = async (context, _args, options) => {
  const base = baseOf(context, options, ({ adminHost: host, adminPort: port }) => {
    if (port === 0) throw new Refused('ADMIN_PORT is 0: the node has no admin listener');
    return { host, port };
  });
  const headers = { Authorization: `Bearer ${tokenOf(context)}` };
  const url = new URL('/clock/accept', base);
  const { jump_ms: jumpMs } = await answerOf<{ readonly jump_ms: number }>(url, context.signal, {
    method: 'POST',
    headers,
  });
  const seconds = Math.round(Math.abs(jumpMs) / MS);
  const way = jumpMs > 0 ? 'ahead' : 'back';
  context.stdout.line(`accepted: the clock jumped ${seconds} s ${way}, and orders are taken`);
  return 'done';
};
