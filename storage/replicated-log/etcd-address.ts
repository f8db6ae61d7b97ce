/**
 * The address of a log on etcd: etcd://host:port,host:port,host:port/NAME, or etcds:// with TLS. NAME is the
 * prefix of all keys, so that several venues can share one etcd.
 */

export interface EtcdAddress {
  readonly members: readonly string[];
  readonly name: string;
  readonly isSecure: boolean;
}

const SHAPE = /^(etcds?):\/\/([^/]*)\/(.*)$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})$/;
const MEMBERS_MAX = 9;

/** The address, or a text that says what is wrong with it. */
export function parseEtcdAddress(text: string): EtcdAddress | string {
  const [, scheme, hosts, name] = SHAPE.exec(text) ?? [];
  if (scheme === undefined || hosts === undefined || name === undefined) {
    return 'it must look like etcd://host:2379,host:2379,host:2379/NAME (etcds:// with TLS)';
  }
  const members = hosts.split(',');
  for (const member of members) {
    const port = Number(HOST.exec(member)?.[1] ?? 0);
    if (port < 1 || port > 65_535) {
      return `'${member}' is not a host and a port, such as 10.0.0.1:2379`;
    }
  }
  const twice = members.find((member, i) => members.indexOf(member) !== i);
  if (twice !== undefined) return `'${twice}' is there twice`;
  if (members.length > MEMBERS_MAX) return `at most ${MEMBERS_MAX} members may be named`;
  if (!NAME.test(name)) {
    return `'${name}' is no name: 1 to 64 letters, digits, dots, dashes and underscores are`;
  }
  return { members, name, isSecure: scheme === 'etcds' };
}
