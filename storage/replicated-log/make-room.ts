/**
 * Room in a full etcd, or in one whose files hold much that is free: a member shrinks its file. It answers nothing
 * meanwhile, so an operator has one member after the other do it, the leading one last. Then the log accepts records
 * again.
 */
import type { EtcdClient, MemberStatus } from './etcd-client.ts';

const STATUS_MS = 5_000;
const DEFRAGMENT_MS = 10 * 60_000;

export interface MadeRoom {
  readonly before: MemberStatus;
  readonly after: MemberStatus;
}

export function membersOf(etcd: EtcdClient): Promise<MemberStatus[]> {
  return etcd.status(STATUS_MS);
}

/** Undefined: it does not answer, or is no member. Rejects with Unreachable. */
export async function makeRoom(etcd: EtcdClient, member: string): Promise<MadeRoom | undefined> {
  const find = async (): Promise<MemberStatus | undefined> =>
    (await membersOf(etcd)).find((it) => it.member === member);
  const before = await find();
  if (before === undefined) return undefined;
  await etcd.defragment(member, DEFRAGMENT_MS);
  const after = await find();
  // Where another member is still full, etcd says so again with the next record.
  await etcd.disarm(STATUS_MS);
  return { before, after: after ?? before };
}
