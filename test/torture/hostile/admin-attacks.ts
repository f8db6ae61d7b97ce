/** Attacks on the admin listener by users of the same machine, and by pages in a browser there. */
import type { Attack, Target } from './attack.ts';
import { askOn, flood, plain, repeated } from './raw.ts';

const PIPELINED = 500;

const foreign = (target: Target, headers: Readonly<Record<string, string>>): Promise<void> =>
  askOn(target, () => ({ method: 'GET', path: '/metrics', headers }), {
    port: target.adminPort,
  });

export const ADMIN_ATTACKS = {
  'foreign-page': {
    does: 'a page of another site asks the admin listener for its metrics, without reading them',
    bound: 'the admin listener',
    run: (target) =>
      foreign(target, {
        Host: `127.0.0.1:${target.adminPort}`,
        'Sec-Fetch-Site': 'cross-site',
        Origin: 'https://evil.example',
      }),
  },
  rebinding: {
    does: 'a page whose own name points to this machine asks likewise',
    bound: 'the admin listener',
    run: (target) => foreign(target, { Host: 'evil.example' }),
  },
  scrapes: {
    does: 'GET /metrics as often as it is answered, by a process of this machine',
    bound: 'the admin listener',
    run: (target) => foreign(target, {}),
  },
  'pipelined-live': {
    does: 'GET /live without waiting for answers',
    bound: 'the admin listener',
    async run(target) {
      const bytes = repeated(plain('GET', '/live').replace('node', '127.0.0.1'), PIPELINED);
      await flood(target, bytes, PIPELINED, undefined, target.adminPort);
    },
  },
} as const satisfies Readonly<Record<string, Attack>>;
