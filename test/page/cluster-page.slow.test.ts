/** The page of a node in a cluster, in a real browser. Three processes on a real etcd. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { clustered, NEEDS_ETCD, WAIT_MS } from '../cluster/whole-cluster.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { findChromium, Reader } from './browser.ts';

useCompiledNodes();
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };

const chromium = findChromium();
const noBrowser = chromium === undefined && 'no Chromium here (apt-get install chromium)';

test(
  'the page of a node shows its role, its leader and its lag, all nodes, and the missing ones',
  { skip: NEEDS_ETCD.skip || noBrowser },
  (t) =>
    clustered(async (cluster) => {
      const leader = await cluster.leader();
      const [at = 0, third = 0] = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
      const settings = cluster.settingsOf(at);
      const reader = await Reader.open(chromium!);
      t.after(() => reader.close());
      await reader.look(DESKTOP, 'light');
      await reader.page.goto(`http://127.0.0.1:${settings.ADMIN_PORT}/#node`);
      // Who leads may change where the machine stands still for longer than a leader may be silent.
      const showsWhoLeads = (): Promise<void> =>
        until(async () => {
          const leads = await cluster.leader();
          const text = (await reader.texts('#lag')).join();
          const part =
            leads === at
              ? `^This noden${at}, leads`
              : `^This noden${at}, follows,?Leadern${leads},?Behind the leader[\\d.]+ (?:µs|ms|s|min)`;
          if (!new RegExp(part).test(text)) return false;
          const state = (i: number) => (i === leads ? 'leader, ok' : 'follower, [^,]+ behind, ok');
          return cluster.nodes.every((_, i) => new RegExp(`Node n${i}${state(i)}`).test(text));
        }, WAIT_MS);
      await showsWhoLeads();
      await reader.sees('#headline', new RegExp(`^n${at} (?:leads|follows n\\d, .* behind) · up `));
      assert.deepEqual(await reader.faults(), []);

      const handover = ['cluster', 'handover', `n${third}`];
      await until(async () => {
        await cli(cluster.directories[at]!, handover, { settings });
        return (await cluster.leader()) === third;
      }, WAIT_MS);
      await showsWhoLeads();

      await cluster.nodes[leader]!.end('SIGKILL');
      await reader.sees('#lag', new RegExp(`Node n${leader}.*ECONNREFUSED`));
      await reader.look(PHONE, 'dark');
      assert.deepEqual(await reader.faults(), []);
      const [wider = 0] = await reader.ask<number[]>('overflow');
      assert(wider <= 0, `${wider} px too wide`);
      // The others forget it once it has been away for long.
      await reader.sees('#lag', new RegExp(`^(?!.*Node n${leader}).*leader, ok`));
      assert.deepEqual(reader.errors, []);
    }),
);
