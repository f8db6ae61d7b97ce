/**
 * This node as a member of a cluster: its log behind the shared one, its role, and what it tells of it. Loaded only
 * with CLUSTER.
 *
 * Thread: the I/O thread.
 */
import { readFileSync } from 'node:fs';
import { engineTime } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { ClusterLog } from '../../storage/cluster/cluster-log.ts';
import { EtcdLog } from '../../storage/cluster/etcd-log.ts';
import type { ReplicatedLog } from '../../storage/cluster/replicated-log.ts';
import { EtcdClient } from '../../storage/etcd/client.ts';
import { type Log as Files, OutcomeUnknown } from '../../storage/log/log.ts';
import type { ClusterFacts } from '../admin/progress.ts';
import { errorBody } from '../common/error-bodies.ts';
import type { Log } from '../common/logger.ts';
import { REFUSALS } from '../common/refusals.ts';
import type { Config } from '../config/config.ts';
import type { OrderTaker } from '../orders/order-taker.ts';
import type { Pause } from '../orders/pauses.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import type { OwnedRequest } from '../orders/slot-requests.ts';
import { ClusterClock } from './cluster-clock.ts';
import { type EpochSettings, epochRecord } from './epoch-record.ts';
import { Forwarder } from './forwarder.ts';
import { LeaderLink } from './leader-link.ts';
import { PeerServer } from './peers/peer-server.ts';
import { Roles } from './roles.ts';

const MIB = 2 ** 20;

/** What the node has to be told of. */
export interface MemberCalls {
  /** Why no orders are taken, as far as the shared log is concerned; undefined = they are. */
  readonly onProblem: (problem: string | undefined) => void;
  readonly onFatal: (error: Error) => void;
}

export class Member {
  readonly log: ClusterLog;
  /** Resolves when the node has to start again, because another one leads. */
  readonly over: Promise<Error>;
  /** Brings requests to the node that leads. */
  readonly forwarder: Forwarder;
  /** What other nodes may call here. */
  readonly peers: PeerServer;
  private readonly link: LeaderLink;
  /** Where they reach it. */
  private peersUrl = '';
  private isLeaving = false;
  private readonly config: Config;
  private readonly replicated: ReplicatedLog;
  private readonly print: Log;
  private readonly signalOver: (why: Error) => void;
  private roles: Roles | undefined;
  private clock = new ClusterClock(0);
  private waiting: (() => void)[] = [];

  constructor(config: Config, files: Files, replicated: ReplicatedLog, print: Log) {
    let signalOver: (why: Error) => void = () => undefined;
    this.over = new Promise((resolve) => (signalOver = resolve));
    this.signalOver = signalOver;
    this.config = config;
    this.log = new ClusterLog(files);
    this.replicated = replicated;
    this.print = print;
    const { clusterPort, clusterSecret: secret, clusterWaitMs, host, nodeId } = config;
    this.peers = new PeerServer({ secret, host, port: clusterPort, print });
    this.link = new LeaderLink({
      ...{ node: nodeId, secret, waitMs: clusterWaitMs },
      leads: this.isTaking,
      leader: () => this.roles?.leader,
    });
    this.forwarder = new Forwarder(this.link, this.isTaking);
  }

  /** Other nodes reach this one from here on. */
  async listen(): Promise<void> {
    const port = await this.peers.listen();
    this.peersUrl = `peers://${new URL(this.config.advertise).hostname}:${port}`;
  }

  /** The time of batches, from the newest record of these tables on. */
  clockOf(tables: Tables): () => number {
    this.clock = new ClusterClock(engineTime(tables));
    return () => this.clock.now();
  }

  /** From now on the node follows, or leads. */
  join(tables: Tables, sequencer: Sequencer, settings: EpochSettings, calls: MemberCalls): void {
    const { advertise, clusterRole, clusterSilenceMs: silenceMs, nodeId: node } = this.config;
    const { clock, log, print, replicated } = this;
    this.roles = new Roles({
      ...{ node, advertise, mayLead: clusterRole === 'member', silenceMs, replicated, log },
      ...{ tables, sequencer, clock, print, peers: this.peersUrl, ...calls },
      wall: Date.now,
      epochRecord: () => epochRecord(tables, settings),
      onLeader: () => this.link.leaderChanged(),
      onLead: () => {
        this.link.leaderChanged();
        for (const callback of this.waiting.splice(0)) callback();
      },
      onOver: (why) => {
        print('warn', `${why.message}: starting over, as a follower`);
        this.signalOver(why);
      },
    });
  }

  /** Whether the failure of the sequencer means that another node leads, and no more. */
  takesFailure(error: Error): boolean {
    if (!(error instanceof OutcomeUnknown) || this.roles === undefined) return false;
    this.roles.lost(error);
    return true;
  }

  /** Calls back as soon as this node leads, at once where it does. */
  whenLeading(callback: () => void): void {
    if (this.leads()) callback();
    else this.waiting.push(callback);
  }

  leads(): boolean {
    return this.roles?.role === 'leading';
  }

  /** Whether requests are decided here. */
  private readonly isTaking = (): boolean => this.leads() && !this.isStale() && !this.isLeaving;

  /** Whether what is read here may be old. */
  readonly isStale = (): boolean => this.roles?.isStale() ?? true;

  facts(): ClusterFacts | undefined {
    return this.roles?.facts();
  }

  /** Of a node that does not lead: that of a leader is with those of its sequencer. */
  pauses(): readonly Pause[] {
    if (this.leads() || !this.isStale()) return [];
    return [{ reason: 'etcd', detail: 'cluster: this node is behind the log of the cluster' }];
  }

  /** Requests of clients go to `lines` where this node leads. */
  taker(lines: OrderTaker): OrderTaker {
    const refuse = (request: OwnedRequest): void => request.answered(503, this.refusal());
    return {
      get waiting() {
        return lines.waiting;
      },
      submit: (request) => (this.isTaking() ? lines.submit(request) : refuse(request)),
      // The sequencer refuses it by itself where this node has lost the lead.
      goOn: (request) => lines.goOn(request),
    };
  }

  settled(signal: AbortSignal | undefined): Promise<void> {
    return this.roles!.settled(signal);
  }

  async stopFollowing(): Promise<void> {
    this.isLeaving = true;
    await this.roles?.stopFollowing();
  }

  /** Gives up the lead, once nothing is under way. */
  async leave(): Promise<void> {
    await this.roles?.close();
  }

  async close(): Promise<void> {
    this.link.close();
    await this.peers.close();
    await this.replicated.close();
  }

  private refusal(): string {
    const leader = this.roles?.leader;
    const isOther = leader !== undefined && leader.node !== this.config.nodeId;
    return errorBody(
      REFUSALS.NOT_LEADING[0],
      isOther ? leader.advertise : 'nobody leads at present',
    );
  }
}

/** Does not wait for the shared log to answer. */
export async function openMember(config: Config, files: Files, print: Log): Promise<Member> {
  const { cluster, clusterCa, clusterCert, clusterKeepMb, clusterKey, nodeId } = config;
  const file = (path: string) => (path === '' ? undefined : readFileSync(path));
  const [ca, cert, key] = [file(clusterCa), file(clusterCert), file(clusterKey)];
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  // Nodes begin with different members of etcd.
  const first = Buffer.from(nodeId).reduce((sum, byte) => sum + byte, 0);
  const etcd = await EtcdClient.open(cluster!, tls, first);
  const replicated = new EtcdLog(etcd, cluster!.name, clusterKeepMb * MIB);
  const member = new Member(config, files, replicated, print);
  try {
    await member.listen();
  } catch (error) {
    await replicated.close();
    const { clusterPort, host } = config;
    throw new Error(`CLUSTER_PORT ${host}:${clusterPort}: ${(error as Error).message}`);
  }
  return member;
}
