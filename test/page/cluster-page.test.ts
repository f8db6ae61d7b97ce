/** What the page of a node shows of its cluster, in a real browser. Three processes on a real etcd. */
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
  'the page of a node shows all nodes, who leads, and who is away',
  { skip: NEEDS_ETCD.skip || noBrowser },
  (t) =>
    clustered(async (cluster) => {
      const leader = await cluster.leader();
      const [at = 0, third = 0] = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
      const settings = cluster.settingsOf(at);
      const reader = await Reader.open(chromium!);
      t.after(() => reader.close());
      await reader.look(DESKTOP, 'light');
      await reader.page.goto(`http://127.0.0.1:${settings.ADMIN_PORT}`);
      const shows = (i: number, state: string): Promise<void> =>
        reader.sees('#lag', new RegExp(`Node n${i}${state}`));
      const follows = 'follower, [^,]+ behind, ok';
      await shows(leader, 'leader, ok');
      await shows(at, follows);
      await shows(third, follows);
      assert.deepEqual(await reader.faults(), []);

      const { code } = await cli(cluster.directories[at]!, ['cluster', 'handover', `n${third}`], {
        settings,
      });
      assert.equal(code, 0);
      await shows(third, 'leader, ok');
      await shows(leader, follows);
      await until(async () => (await cluster.leader()) === third, WAIT_MS);

      await cluster.nodes[leader]!.end('SIGKILL');
      await shows(leader, '.*ECONNREFUSED');
      await reader.look(PHONE, 'dark');
      await reader.page.click('.views [data-view=node]');
      assert.deepEqual(await reader.faults(), []);
      assert.deepEqual(await reader.ask('overflow'), [0, 0]);
      // The others forget it once it has been away for long.
      await reader.sees('#lag', new RegExp(`^(?!.*Node n${leader}).*Node n${third}leader, ok`));
      assert.deepEqual(reader.errors, []);
    }),
);
