/**
 * The transport to the nodes of one venue: requests go to one node, and to the next one after a failure.
 * A node is asked for its venue before its first request; a node of another venue gets no request.
 * Non-goals: which answers are failures (retry.ts), balancing of load.
 */
import { NotSentError, refusal } from './errors.ts';
import {
  type Headers,
  HttpClient,
  type HttpOptions,
  type Method,
  type Reply,
  type Transport,
} from './http.ts';
import { untilAnswered } from './retry.ts';
import type { ExchangeInfoAnswer } from './types.ts';

const INFO = '/exchange-info';
/** Longest wait of a connecting client for other nodes, in milliseconds, once one has answered. */
const OTHERS_MS_MAX = 1_000;

interface Member {
  readonly url: URL;
  readonly http: HttpClient;
  /** Settles once the venue of the node is known; undefined before, and after a request without an answer. */
  checked: Promise<void> | undefined;
  isForeign: boolean;
}

export class Nodes implements Transport {
  sequence = 0;
  at = 0;
  readonly #members: readonly Member[];
  #first: { readonly url: URL; readonly info: ExchangeInfoAnswer } | undefined;

  constructor(urls: readonly URL[], options: HttpOptions) {
    if (urls.length === 0) throw new RangeError('a client needs the URL of a node');
    const all = { readsOwnWrites: urls.length > 1, ...options };
    this.#members = urls.map((url) => {
      return { url, http: new HttpClient(url, all), checked: undefined, isForeign: false };
    });
  }

  /**
   * Asks for what a client needs to sign. @returns the answer of the first node that gives one
   * @throws ApiError, NoAnswerError; Error when another node belongs to another venue
   */
  async connect(patienceMs: number): Promise<ExchangeInfoAnswer> {
    const send = (): Promise<Reply> => this.#members[this.at]!.http.send('GET', INFO);
    const { reply } = await untilAnswered(`GET ${INFO}`, 'always', patienceMs, send, this);
    if (reply.status !== 200) throw refusal(`GET ${INFO}`, reply);
    const info = JSON.parse(reply.body) as ExchangeInfoAnswer;
    const answered = this.#members[this.at]!;
    answered.checked = Promise.resolve();
    this.#first = { url: answered.url, info };
    await within(OTHERS_MS_MAX, Promise.allSettled(this.#members.map((each) => this.#check(each))));
    const foreign = this.#members.find(({ isForeign }) => isForeign);
    if (foreign !== undefined) throw new Error(this.#foreignText(foreign));
    return info;
  }

  get count(): number {
    return this.#members.filter(({ isForeign }) => !isForeign).length;
  }

  moveOn(from: number): void {
    if (from !== this.at) return;
    const { length } = this.#members;
    do this.at = (this.at + 1) % length;
    while (this.at !== from && this.#members[this.at]!.isForeign);
  }

  async send(method: Method, path: string, headers?: Headers, body?: string): Promise<Reply> {
    const member = this.#members[this.at]!;
    if (this.#members.length > 1) await this.#check(member);
    const { http } = member;
    http.sequence = this.sequence;
    try {
      return await http.send(method, path, headers, body);
    } catch (error) {
      member.checked = undefined; // another node may be there next time
      throw error;
    } finally {
      this.sequence = Math.max(this.sequence, http.sequence);
    }
  }

  /**
   * Returns the URL of a stream at a node of the venue: of that of the requests, after failures of the
   * next ones. @param failures connections in turn that failed
   */
  async streamUrl(path: string, failures: number): Promise<URL> {
    const usable = this.#members.filter(({ isForeign }) => !isForeign);
    const first = usable.indexOf(this.#members[this.at]!);
    const member = usable[(first + failures) % usable.length]!;
    if (this.#members.length > 1) await this.#check(member);
    const url = urlAt(member.url, path);
    url.protocol = url.protocol.replace('http', 'ws');
    return url;
  }

  close(): void {
    for (const { http } of this.#members) http.close();
  }

  /** @throws NotSentError where the node does not answer, or belongs to another venue */
  #check(member: Member): Promise<void> {
    member.checked ??= this.#ask(member).catch((error: unknown) => {
      member.checked = undefined;
      throw error;
    });
    return member.checked;
  }

  async #ask(member: Member): Promise<void> {
    let info: ExchangeInfoAnswer;
    try {
      const reply = await member.http.send('GET', INFO);
      if (reply.status !== 200) throw refusal(`GET ${INFO}`, reply);
      info = JSON.parse(reply.body) as ExchangeInfoAnswer;
    } catch (error) {
      throw new NotSentError(`${member.url.origin} does not answer`, error);
    }
    member.isForeign = !isOneVenue(this.#first!.info, info);
    if (member.isForeign) throw new NotSentError(this.#foreignText(member));
  }

  #foreignText({ url }: Member): string {
    return `${url.origin} belongs to another venue than ${this.#first?.url.origin}`;
  }
}

function urlAt(node: URL, path: string): URL {
  return new URL(node.pathname.replace(/\/$/, '') + path, node);
}

/** Nodes of an earlier version do not name their venue. */
function isOneVenue(one: ExchangeInfoAnswer, other: ExchangeInfoAnswer): boolean {
  const [venue, otherVenue]: readonly (string | undefined)[] = [one.venue, other.venue];
  if (venue !== undefined && otherVenue !== undefined && venue !== otherVenue) return false;
  return signingTerms(one) === signingTerms(other);
}

function signingTerms(info: ExchangeInfoAnswer): string {
  const { chain_id, credential_prefix, domain, exchange_address } = info;
  const { exchange_address_2, neg_risk_exchange_address, neg_risk_exchange_address_2 } = info;
  return JSON.stringify([
    ...[chain_id, credential_prefix, domain.name, domain.version, exchange_address],
    ...[neg_risk_exchange_address, exchange_address_2, neg_risk_exchange_address_2],
  ]);
}

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
