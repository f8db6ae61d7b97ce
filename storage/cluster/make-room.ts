/**
 * What an operator does once etcd is full, or holds much room that it does not use: each member gives the free
 * room of its file back, one after the other, the leading one last, because a member answers nothing meanwhile.
 * Then the log takes records again.
 */
import type { EtcdClient, MemberStatus } from '../etcd/client.ts';
import { Unreachable } from '../log/log.ts';

const STATUS_MS = 5_000;
const DEFRAGMENT_MS = 10 * 60_000;

/**
 * Rejects with Unreachable at the first member that does not answer, before or after; those after it are then
 * as they were.
 */
export async function makeRoom(etcd: EtcdClient, say: (line: string) => void): Promise<void> {
  const members = await statusOf(etcd);
  const inTurn = [...members].sort((a, b) => Number(a.isLeader) - Number(b.isLeader));
  for (const before of inTurn) {
    await etcd.defragment(before.member, DEFRAGMENT_MS);
    const after = (await statusOf(etcd)).find(({ member }) => member === before.member)!;
    say(`${before.member}: ${mebibytes(before)} before, ${mebibytes(after)} after`);
  }
  await etcd.disarm(STATUS_MS);
  say('etcd takes records again');
}

/** With one member away, a second one that answers nothing for a while would stop the log. */
async function statusOf(etcd: EtcdClient): Promise<MemberStatus[]> {
  const members = await etcd.status(STATUS_MS);
  const silent = etcd.members.filter((name) => !members.some(({ member }) => member === name));
  if (silent.length > 0) throw new Unreachable(silent.join(', '));
  return members;
}

function mebibytes({ usedBytes }: MemberStatus): string {
  return `${(usedBytes / 2 ** 20).toFixed(1)} MiB`;
}
