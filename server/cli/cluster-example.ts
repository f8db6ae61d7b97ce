/**
 * `cluster example`: settings, scripts and systemd units for three members of etcd and some nodes on one machine,
 * as ordinary processes. It starts nothing. For other machines, change the addresses in its files.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../../storage/files/make-directory.ts';
import { Refused, type Run } from './context.ts';
import { numberOf, textOf } from './settings.ts';

const NODES_MAX = 9;
const MEMBERS = 3;
const PORT = 3_000;
const PORT_MAX = 65_535;
const APART = 100;
const SECRET_BYTES = 32;
/** Quota of cluster.yaml in deploy/: four times what nodes store by default. */
const QUOTA_BYTES = 2 ** 31;
/** Paths that systemd units and scripts can name. */
const PLAIN_PATH = /^[\w@+=:,./-]+$/;

interface Ports {
  readonly node: number;
  readonly admin: number;
  readonly peers: number;
  readonly etcdClients: number;
  readonly etcdMembers: number;
}

export const example: Run = async ({ stdout }, _, options) => {
  const given = textOf(options, 'dir') ?? './cluster';
  const directory = resolve(given);
  const nodes = wholeOf(textOf(options, 'nodes') ?? '3', '--nodes', NODES_MAX);
  const apart = APART * (Math.max(nodes, MEMBERS) - 1);
  const base = wholeOf(textOf(options, 'port') ?? String(PORT), '--port', PORT_MAX - apart - 4);
  if (!PLAIN_PATH.test(directory)) {
    throw new Refused(`--dir ${directory}: a unit of systemd cannot name such a path`);
  }
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new Refused(`--dir ${directory} is not empty`);
  }
  makeDirectory(directory);
  chmodSync(directory, 0o700);
  makeDirectory(join(directory, 'units'));
  const files = filesOf(directory, nodes, (i) => portsOf(base + APART * (i - 1)));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, name), text, { mode: name.endsWith('.sh') ? 0o700 : 0o600 });
  }
  stdout.lines([
    `${given}: ${MEMBERS} members of etcd and ${nodes} nodes, with a secret of their own in cluster.env`,
    `  ${given}/start.sh                       starts them, and waits until all nodes are ready`,
    `  ${given}/run.sh node1 cluster status    a command with the settings of a node`,
    `  ${given}/stop.sh [NAME...]              ends nodes, then etcd`,
    `  ${given}/units                          the same for systemd`,
  ]);
  return 'done';
};

function wholeOf(text: string, what: string, max: number): number {
  const number = numberOf(text, what, 1);
  if (number > max) throw new Refused(`${what} must be at most ${max}, not ${number}`);
  return number;
}

function portsOf(first: number): Ports {
  return {
    node: first,
    admin: first + 1,
    peers: first + 2,
    etcdClients: first + 3,
    etcdMembers: first + 4,
  };
}

function filesOf(
  directory: string,
  nodes: number,
  portsAt: (i: number) => Ports,
): Record<string, string> {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
  const hosts = numbers(MEMBERS).map((i) => `127.0.0.1:${portsAt(i).etcdClients}`);
  const members = numbers(MEMBERS).map(
    (i) => `etcd${i}=http://127.0.0.1:${portsAt(i).etcdMembers}`,
  );
  const files: Record<string, string> = {
    'cluster.env': settings({
      CLUSTER: `etcd://${hosts.join(',')}/exchange`,
      CLUSTER_SECRET: randomBytes(SECRET_BYTES).toString('hex'),
    }),
    'run.sh': runScript(),
    'start.sh': startScript(numbers(MEMBERS), numbers(nodes)),
    'stop.sh': stopScript(numbers(MEMBERS), numbers(nodes)),
    'units/exchange-etcd@.service': unit(directory, 'etcd', ''),
    'units/exchange-node@.service': unit(directory, 'node', 'RestartPreventExitStatus=2\n'),
  };
  for (const i of numbers(MEMBERS)) {
    const { etcdClients, etcdMembers } = portsAt(i);
    const [clients, peers] = [etcdClients, etcdMembers].map((port) => `http://127.0.0.1:${port}`);
    files[`etcd${i}.env`] = settings({
      ETCD_NAME: `etcd${i}`,
      ETCD_LISTEN_CLIENT_URLS: clients!,
      ETCD_ADVERTISE_CLIENT_URLS: clients!,
      ETCD_LISTEN_PEER_URLS: peers!,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: peers!,
      ETCD_INITIAL_CLUSTER: members.join(','),
      ETCD_INITIAL_CLUSTER_STATE: 'new',
      ETCD_HEARTBEAT_INTERVAL: '50',
      ETCD_ELECTION_TIMEOUT: '500',
      ETCD_QUOTA_BACKEND_BYTES: String(QUOTA_BYTES),
      ETCD_LOGGER: 'zap',
      ETCD_LOG_LEVEL: 'warn',
    });
  }
  for (const i of numbers(nodes)) {
    const { admin, node, peers } = portsAt(i);
    files[`node${i}.env`] = settings({
      NODE_ID: `node${i}`,
      ADVERTISE: `http://127.0.0.1:${node}`,
      PORT: String(node),
      ADMIN_PORT: String(admin),
      CLUSTER_PORT: String(peers),
    });
  }
  return files;
}

function settings(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Quotes a text as one word of a shell. */
function word(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function runScript(): string {
  return `#!/bin/sh
# ./run.sh etcd1                     a member of etcd, until it is stopped
# ./run.sh node1                     a node, until it is stopped
# ./run.sh node1 cluster status      a command with the settings of that node
set -eu
cd "$(dirname "$0")"
here=$(pwd)
name=\${1:?a name, such as etcd1 or node1}
shift
umask 077
set -a
. ./cluster.env
. "./$name.env"
set +a
case $name in
etcd*) exec etcd --data-dir "$here/$name" "$@" ;;
esac
[ $# -gt 0 ] || set -- start
DATA_DIR=$here/$name
export DATA_DIR
exec ${word(process.execPath)} ${word(realpathSync(process.argv[1]!))} "$@" --data-dir "$DATA_DIR"
`;
}

/** Shell functions of both scripts. They check the command line, because the number of a process may be reused. */
const RUNS = `runs() {
  [ -e "$1.pid" ] && ps -o args= -p "$(cat "$1.pid")" 2>/dev/null | grep -qF -- "--data-dir $here/$1"
}
`;

function startScript(members: readonly number[], nodes: readonly number[]): string {
  const names = [...members.map((i) => `etcd${i}`), ...nodes.map((i) => `node${i}`)].join(' ');
  return `#!/bin/sh
# Starts all, or what is named: ./start.sh [NAME...]. It ends when each of those nodes is ready.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
if ! command -v etcd >/dev/null; then
  echo 'there is no etcd: install it (Debian and Ubuntu: apt-get install etcd-server)' >&2
  exit 1
fi
${RUNS}is_ready() {
  ${word(process.execPath)} -e 'fetch(process.argv[1]).then(({ status }) => process.exit(status === 200 ? 0 : 1), () => process.exit(1))' "$1"
}
[ $# -gt 0 ] || set -- ${names}
for name; do
  runs "$name" && continue
  nohup ./run.sh "$name" >>"$name.log" 2>&1 </dev/null &
  echo $! >"$name.pid"
done
for name; do
  case $name in
  etcd*) continue ;;
  esac
  port=$(sed -n 's/^ADMIN_PORT=//p' "$name.env")
  until is_ready "http://127.0.0.1:$port/ready"; do
    if ! kill -0 "$(cat "$name.pid")" 2>/dev/null; then
      tail -n 20 "$name.log" >&2
      echo "$name has ended; its log is $here/$name.log" >&2
      exit 1
    fi
    sleep 1
  done
  echo "$name is ready: http://127.0.0.1:$((port - 1)), its page is http://127.0.0.1:$port"
done
`;
}

function stopScript(members: readonly number[], nodes: readonly number[]): string {
  const names = [...nodes.map((i) => `node${i}`), ...members.map((i) => `etcd${i}`)].join(' ');
  return `#!/bin/sh
# Ends all, or what is named: ./stop.sh [NAME...], one after the other.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
${RUNS}[ $# -gt 0 ] || set -- ${names}
for name; do
  if runs "$name"; then
    kill "$(cat "$name.pid")"
    while runs "$name"; do sleep 0.2; done
    echo "$name has ended"
  fi
  rm -f "$name.pid"
done
`;
}

function unit(directory: string, kind: 'etcd' | 'node', further: string): string {
  const example = kind === 'etcd' ? 'exchange-etcd@1' : 'exchange-node@1';
  return `# systemctl --user link ${directory}/units/*.service
# systemctl --user enable --now ${example}
[Unit]
Description=${kind} %i of the cluster in ${directory}
After=network-online.target

[Service]
Type=exec
ExecStart=${directory}/run.sh ${kind}%i
Restart=always
RestartSec=2
${further}LimitNOFILE=131072
# At the end of a node an image is written.
TimeoutStopSec=90

[Install]
WantedBy=default.target
`;
}
