/**
 * This node as a member of a cluster: its log behind the shared one, its role, and what it reports of it. Loaded only
 * with CLUSTER.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { engineTime } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { CatalogStore } from '../../storage/catalog/catalog.ts';
import { type Log as Files, OutcomeUnknown } from '../../storage/log/log.ts';
import { ClusterLog } from '../../storage/replicated-log/cluster-log.ts';
import type { EtcdClient } from '../../storage/replicated-log/etcd-client.ts';
import { type ReplicatedLog, TooOld } from '../../storage/replicated-log/replicated-log.ts';
import type { ClusterControl } from '../admin/cluster-operations.ts';
import type { NodeView } from '../admin/cluster-schemas.ts';
import { ForwardMetrics } from '../admin/forward-metrics.ts';
import type { ClusterFacts } from '../admin/progress.ts';
import type { Log } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import type { Route } from '../http/request-context.ts';
import { type OwnedRequest, placesOrders } from '../orders/exchange-memory/slot-requests.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import { codesOf, PAUSES, type Pause } from '../orders/intake/pauses.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import { Announcements } from './announced.ts';
import { CatalogShare } from './catalog-share.ts';
import { ClusterClock } from './cluster-clock.ts';
import { fingerprintOf, isKeyOf, retireKey } from './cluster-key.ts';
import { controlOf, recentNodes } from './control.ts';
import { type EpochSettings, epochRecord } from './epoch-record.ts';
import { OperationForwarder } from './forwarded-operations.ts';
import { OrderForwarder, type RefuseCaller } from './forwarded-orders.ts';
import { RequestForwarder } from './forwarded-requests.ts';
import { Forwarder, NOT_FORWARDED } from './forwarder.ts';
import type { Handover } from './heartbeat.ts';
import { wantCopy } from './join.ts';
import { LeaderLink } from './leader-link.ts';
import { Membership } from './membership.ts';
import { type NodeState, NodeWatch } from './node-watch.ts';
import { sendCopies } from './peer-copies.ts';
import { PeerServer } from './peers/peer-server.ts';
import { Readiness } from './readiness.ts';
import type { RoleRules } from './role-state.ts';
import { type RoleCalls, Roles } from './roles.ts';
import { openSharedLog, type SharedLog, secretsOf } from './shared-log.ts';
import { StepDown } from './step-down.ts';

const LIST_MS = 2_000;
const JOINING: readonly Pause[] = [
  { reason: 'catch-up', detail: 'cluster: this node has not joined yet' },
];
/** Pause between two comparisons, until the node that leads has announced itself. */
const COMPARE_MS = 500;
/** Far above what a handover takes until it is answered. */
const HANDOVER_MS_MAX = 30_000;

export interface MemberCalls {
  readonly onProblem: (problem: string | undefined) => void;
  readonly onFatal: (error: Error) => void;
}

function waitingText(dataDir: string, last: number): string {
  return (
    `the log of the cluster is empty, and this node has records up to batch ${last}: it waits. ` +
    `Where CLUSTER is right, stop the node that has most (cluster status), and run: cluster begin --from ${dataDir} ` +
    '(docs/guides/a-cluster.md, "The log of a cluster is empty")'
  );
}

export interface OwnFacts {
  /** Reasons of this node why it is not ready, without those of its cluster. */
  readonly pauses: () => readonly Pause[];
  /** Unix milliseconds by which credentials are judged. */
  readonly wall: () => number;
  readonly together: Sequencer['together'];
}

interface Served {
  readonly routes: readonly Route[];
  readonly intake: OrderIntake;
  readonly applied: AppliedSequence;
}

interface MemberStores {
  readonly log: Files;
  readonly catalog: CatalogStore;
}

export class Member {
  readonly log: ClusterLog;
  /** Resolves when the node has to start again, because another one leads. */
  readonly over: Promise<Error>;
  readonly forwarder: RequestForwarder;
  readonly orders: OrderForwarder;
  readonly operations: OperationForwarder;
  readonly peers: PeerServer;
  readonly catalog: CatalogShare;
  readonly nodes: () => readonly NodeView[];
  private readonly link: LeaderLink;
  private readonly operationLink: LeaderLink;
  private readonly metrics = new ForwardMetrics();
  private peersUrl = '';
  /** No API key was issued yet, so node.key may change. */
  isKeyless: () => boolean = () => false;
  private readonly key: string;
  private comparing: Promise<void> | undefined;
  private isClosed = false;
  private isLeaving = false;
  private isServing = false;
  private readonly config: Config;
  private readonly replicated: ReplicatedLog;
  private readonly etcd: EtcdClient;
  private readonly announcements: Announcements;
  private readonly membership: Membership;
  private readonly print: Log;
  private readonly signalOver: (why: Error) => void;
  private roles: Roles | undefined;
  private own: OwnFacts = {
    pauses: () => [],
    wall: Date.now,
    together: (submit) => submit(),
  };
  private watch: NodeWatch | undefined;
  private readiness: Readiness | undefined;
  private handover: Handover | undefined;
  private onHandover: (handover: Handover) => void = () => undefined;
  private clock = new ClusterClock(0);
  private onRefused: (error: Error) => void = () => undefined;
  private readonly onLead: (() => void)[] = [];
  private readonly onFollow: (() => void)[] = [];
  private intake: OrderIntake | undefined;

  constructor(
    config: Config,
    { catalog: store, log: files }: MemberStores,
    { etcd, replicated }: SharedLog,
    print: Log,
  ) {
    let signalOver: (why: Error) => void = () => undefined;
    this.over = new Promise((resolve) => (signalOver = resolve));
    this.signalOver = signalOver;
    this.config = config;
    this.log = new ClusterLog(files);
    this.replicated = replicated;
    this.etcd = etcd;
    this.print = print;
    const venue = config.cluster!.name;
    const announcements = new Announcements(replicated, venue, print);
    this.announcements = announcements;
    this.nodes = recentNodes(announcements);
    const { clusterPort, dataDir, host, nodeId } = config;
    const secrets = secretsOf(config);
    this.peers = new PeerServer({ secrets, host, port: clusterPort, print });
    sendCopies(this.peers, dataDir, print);
    this.catalog = this.newCatalogShare(store);
    this.catalog.serve(this.peers);
    NodeWatch.serve(this.peers, this.state);
    this.key = fingerprintOf(dataDir);
    this.membership = new Membership({
      replicated,
      venue,
      secrets,
      print,
      leads: () => this.leads(),
      onRefused: (error) => this.onRefused(error),
    });
    this.link = this.newLink(0);
    // A handover is answered by the node that led before.
    this.operationLink = this.newLink(HANDOVER_MS_MAX);
    this.forwarder = new RequestForwarder(this.link, this.isTaking);
    this.orders = new OrderForwarder(this.forwarder);
    const operationForwarder = new Forwarder(this.operationLink, this.isTaking);
    this.operations = new OperationForwarder(nodeId, operationForwarder);
  }

  private newCatalogShare(store: CatalogStore): CatalogShare {
    const { announcements, config, print } = this;
    const { dataDir, durability, nodeId } = config;
    return new CatalogShare({
      node: nodeId,
      secrets: secretsOf(config),
      dataDir,
      durability,
      store,
      announcements,
      print,
      peers: () => this.peersUrl,
      leads: () => this.leads(),
      leader: () => this.roles?.leader?.node,
    });
  }

  private newLink(lateMs: number): LeaderLink {
    const { config, metrics, print } = this;
    return new LeaderLink({
      node: config.nodeId,
      secrets: secretsOf(config),
      waitMs: config.clusterWaitMs,
      lateMs,
      leads: this.isTaking,
      leader: () => this.roles?.leader,
      metrics,
      print,
    });
  }

  async listen(): Promise<void> {
    const port = await this.peers.listen();
    this.peersUrl = `peers://${new URL(this.config.advertise).hostname}:${port}`;
  }

  serve({ applied, intake, routes }: Served, refuse: RefuseCaller): void {
    const sequence = (): number => applied.newest;
    this.forwarder.serveRoutes(this.peers, routes, sequence, this.print);
    const { together } = this.own;
    this.orders.serve(this.peers, { intake, together }, sequence, refuse);
    this.isServing = true;
  }

  /** The time of batches, from the newest record of these tables on. */
  clockOf(tables: Tables): () => number {
    this.clock = new ClusterClock(engineTime(tables));
    return () => this.clock.now();
  }

  /** Throws SettingsRefused where settings differ from those of the cluster. @param config whose settings are settled */
  compare(config: Config): Promise<void> {
    return this.membership.begin(config);
  }

  join(
    tables: Tables,
    sequencer: Sequencer,
    settings: EpochSettings,
    calls: MemberCalls,
    own: OwnFacts,
  ): void {
    this.own = own;
    const { advertise, clusterRole, clusterSilenceMs: silenceMs, nodeId: node } = this.config;
    const { announcements, clock, log, membership, print, replicated } = this;
    this.onRefused = calls.onFatal;
    const rules: RoleRules = {
      node,
      advertise,
      peers: this.peersUrl,
      venue: this.config.cluster!.name,
      mayLead: clusterRole === 'member',
      silenceMs,
      capacities: tables.capacities,
    };
    this.roles = new Roles({
      rules,
      key: this.key,
      announcements,
      isMember: membership.mayLead,
      replicated,
      log,
      tables,
      sequencer,
      clock,
      wall: Date.now,
      epochRecord: (handover) => epochRecord(tables, settings, handover),
      waiting: () => this.intake?.waiting ?? 0,
      calls: this.roleCalls(calls),
      print,
    });
    this.watchNodes();
  }

  private roleCalls({ onFatal, onProblem }: MemberCalls): RoleCalls {
    return {
      onProblem,
      onFatal: (error) => (error instanceof TooOld ? this.needsCopy(error) : onFatal(error)),
      onLeader: () => {
        this.leaderChanged();
        this.comparing = this.compareKey(onFatal);
      },
      onNext: (next) => this.link.expect(next),
      onLead: (handover) => {
        this.leaderChanged();
        void this.membership.look();
        this.handover = handover ?? this.handover;
        if (handover !== undefined) this.onHandover(handover);
        for (const callback of this.onLead) callback();
      },
      onFollow: () => {
        for (const callback of this.onFollow) callback();
      },
      onOver: (why) => {
        // Waiting requests are answered at once: the node restarts.
        this.closeLinks();
        this.print('warn', `${why.message}: resync`);
        this.signalOver(why);
      },
    };
  }

  private watchNodes(): void {
    const { clusterSilenceMs: silenceMs, nodeId: node } = this.config;
    const { announcements, print } = this;
    const leads = (): boolean => this.leads();
    const roles = this.roles!;
    const watch: NodeWatch = new NodeWatch({
      node,
      secrets: secretsOf(this.config),
      nodes: () => announcements.all(LIST_MS),
      wall: this.own.wall,
      onLook: () => {
        readiness.look();
        // A start that leads has commands of its own to make.
        if (this.isServing) stepDown.look();
      },
    });
    const readiness = new Readiness({
      watch,
      leads,
      isStale: this.isStale,
      print,
      leader: () => roles.leader,
      seesLeader: () => roles.seesLeader,
      logProblem: () => roles.logProblem,
      emptyLog: () =>
        roles.waitsForBegin() ? waitingText(this.config.dataDir, this.log.last) : undefined,
    });
    const stepDown = new StepDown({
      node,
      silenceMs,
      leads,
      print,
      pauses: () => [...this.own.pauses(), ...readiness.pauses()],
      nodes: () => watch.nodes(),
      handOver: (next, asked) => roles.handOver(next, asked),
    });
    watch.start();
    this.watch = watch;
    this.readiness = readiness;
  }

  private readonly state = (): NodeState => {
    const reasons = codesOf([...this.own.pauses(), ...this.pauses()]);
    return {
      leads: this.leads(),
      applied: this.roles?.facts().applied ?? 0,
      reasons: reasons.filter((reason) => PAUSES[reason].concerns === 'node'),
      wall: this.own.wall(),
    };
  };

  /** Calls back with each lead that was handed over to this node, an earlier one too. One caller. */
  whenHandedOver(callback: (handover: Handover) => void): void {
    this.onHandover = callback;
    if (this.handover !== undefined) callback(this.handover);
  }

  /** Handles the failure of the sequencer where it only means that another node leads. */
  takesFailure(error: Error): boolean {
    if (!(error instanceof OutcomeUnknown) || this.roles === undefined) return false;
    this.roles.lost(error);
    return true;
  }

  /** Calls back each time that this node begins to lead, and at once where it does. */
  whenLeading(callback: () => void): void {
    this.onLead.push(callback);
    if (this.leads()) callback();
  }

  whenFollowing(callback: () => void): void {
    this.onFollow.push(callback);
  }

  leads(): boolean {
    return this.roles?.role === 'leading';
  }

  private readonly isTaking = (): boolean => this.leads() && !this.isStale() && !this.isLeaving;

  readonly isStale = (): boolean => this.roles?.isStale() ?? true;

  /** To be called after join(). */
  control(): ClusterControl {
    const { announcements, etcd } = this;
    const { clusterSilenceMs: silenceMs, nodeId: node } = this.config;
    return controlOf({ node, silenceMs, roles: this.roles!, announcements, etcd });
  }

  facts(): ClusterFacts | undefined {
    const clockSkewMs = this.readiness?.skewMs ?? 0;
    return this.roles && { ...this.roles.facts(), clockSkewMs, forwarded: this.metrics };
  }

  pauses(): readonly Pause[] {
    return [...(this.readiness?.pauses() ?? JOINING), ...this.membership.pauses()];
  }

  /** Requests of clients go to `intake` where this node leads. */
  intakeOf(intake: OrderIntake): OrderIntake {
    this.intake = intake;
    const elsewhere = (request: OwnedRequest): void => {
      const isLeaving = this.roles?.role === 'handing-over';
      // A node that hands the lead over waits until it has nothing to do.
      if (placesOrders(request)) this.orders.submit(request, intake, !isLeaving);
      // It came before that began.
      else if (isLeaving) intake.submit(request);
      // It was this node that led when the request came.
      else {
        const { body, headers, status } = NOT_FORWARDED.nobody;
        request.answered(status, body, headers);
      }
    };
    return {
      get waiting() {
        return intake.waiting;
      },
      submit: (request) => (this.isTaking() ? intake.submit(request) : elsewhere(request)),
      // The sequencer refuses it by itself where this node has lost the lead.
      resume: (request) => intake.resume(request),
    };
  }

  /** Resolves once this node leads, or is close to who does, whose node.key it has; or that takes too long. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    await this.roles!.settled(signal);
    const patience = sleep(this.config.clusterSilenceMs, undefined, { signal, ref: false });
    await Promise.race([this.comparing, patience]);
    this.readiness?.started();
  }

  async stopFollowing(): Promise<void> {
    this.isLeaving = true;
    this.watch?.close();
    await this.roles?.stopFollowing();
  }

  /** To be called once nothing is under way. */
  async leave(): Promise<void> {
    await this.roles?.close();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.watch?.close();
    this.closeLinks();
    await this.membership.close();
    await this.catalog.close();
    await this.peers.close();
    await this.replicated.close();
  }

  private leaderChanged(): void {
    this.link.leaderChanged();
    this.operationLink.leaderChanged();
  }

  private closeLinks(): void {
    this.link.close();
    this.operationLink.close();
  }

  private async compareKey(onFatal: (error: Error) => void): Promise<void> {
    const { dataDir, nodeId } = this.config;
    for (;;) {
      const leader = this.roles?.leader?.node;
      if (this.isClosed || leader === undefined || leader === nodeId) return;
      const isSame = await isKeyOf(leader, this.key, this.announcements);
      // Another one of these looks may have found it first.
      if (isSame === true || this.roles?.role === 'over') return;
      if (isSame === false && leader === this.roles?.leader?.node) {
        const why = new Error(`node.key is not that of ${leader}, which leads the cluster`);
        if (!this.isKeyless()) onFatal(why);
        else {
          retireKey(dataDir);
          this.roles.lost(why);
        }
        return;
      }
      await sleep(COMPARE_MS, undefined, { ref: false });
    }
  }

  /** The shared log does not reach back to this node: it starts again, with the copy of another one. */
  private needsCopy(why: TooOld): void {
    wantCopy(this.config.dataDir);
    this.roles!.lost(why);
  }
}

/** Does not wait for the shared log to answer. */
export async function openMember(
  config: Config,
  stores: MemberStores,
  print: Log,
): Promise<Member> {
  const shared = await openSharedLog(config, print);
  const member = new Member(config, stores, shared, print);
  try {
    await member.listen();
  } catch (error) {
    await shared.replicated.close();
    const { clusterPort, host } = config;
    throw new Error(`CLUSTER_PORT ${host}:${clusterPort}: ${(error as Error).message}`);
  }
  return member;
}
