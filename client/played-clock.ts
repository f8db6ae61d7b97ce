/**
 * The clock of a recording that a node plays with `--speed max`: it stands until it is stepped, so a bot has all
 * the time that it needs, and gets the same fills in every run.
 */
import { ApiError } from './errors.ts';
import { HttpClient } from './http.ts';

export interface PlayedTime {
  /** Unix milliseconds of market time. */
  readonly time: number;
  /** Unix milliseconds at which the next message of the recording is due; null = it has ended. */
  readonly next: number | null;
}

/** A step plays all that is due by then, which may be a whole day. */
const STEP_MS_MAX = 3_600_000;
const ROUTE = '/clock/step';

export class PlayedClock {
  readonly #http: HttpClient;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param admin the admin listener of the node @param token its ADMIN_TOKEN, where it has one */
  constructor(admin: string | URL, token = '') {
    this.#http = new HttpClient(new URL(admin), { connections: 1, timeoutMs: STEP_MS_MAX });
    this.#headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
  }

  /** Advances the time by `ms`; absent: to the next message. Resolves once everything due by then has happened. */
  step(ms?: number): Promise<PlayedTime> {
    return this.#post(ms === undefined ? {} : { ms });
  }

  /** Advances the time to `to`, in unix milliseconds. */
  stepTo(to: number): Promise<PlayedTime> {
    return this.#post({ to });
  }

  close(): void {
    this.#http.close();
  }

  async #post(body: object): Promise<PlayedTime> {
    const reply = await this.#http.send('POST', ROUTE, this.#headers, JSON.stringify(body));
    if (reply.status !== 200) throw new ApiError(`POST ${ROUTE}`, reply.status, reply.body);
    return JSON.parse(reply.body) as PlayedTime;
  }
}
