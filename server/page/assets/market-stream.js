// @ts-check
/**
 * /ws/market for one token: subscribes, checks the sequences of its streams for gaps, and
 * reconnects after every loss. After a gap it subscribes again, which brings a whole book; earlier
 * events are left out.
 */

/** @typedef {'connecting' | 'live' | 'away'} StreamState */
/** @typedef {Record<string, any>} StreamEvent see server/streams/messages.ts */

const RETRY_MS = 250;
const RETRY_MS_MAX = 3_000;
const PING_MS = 5_000;
/** Without a message for so long, pongs included, the connection is dead. */
const SILENCE_MS_MAX = 12_000;

export class MarketStream {
  /**
   * @param {object} parts
   * @param {string} parts.url
   * @param {(event: StreamEvent) => void} parts.onEvent an event of the followed token, in order
   * @param {() => void} parts.onBegin a first book follows; earlier events may have gaps
   * @param {(state: StreamState) => void} parts.onState
   */
  constructor({ onBegin, onEvent, onState, url }) {
    this.url = url;
    this.onEvent = onEvent;
    this.onBegin = onBegin;
    this.onState = onState;
    this.token = '';
    /** Whether a first book has not come yet. */
    this.isAwaitingBook = true;
    /** @type {Map<string, string>} sequence of the last event, by stream */
    this.sequences = new Map();
    this.retryMs = RETRY_MS;
    this.receivedAt = 0;
    /** @type {WebSocket | undefined} */
    this.socket = undefined;
    setInterval(() => this.ping(), PING_MS);
    addEventListener('online', () => this.reconnect());
    this.connect();
  }

  /** @param {string} token */
  follow(token) {
    if (token === this.token) return;
    this.send({ operation: 'unsubscribe', assets_ids: [this.token] });
    this.token = token;
    this.subscribe();
  }

  connect() {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener('open', () => {
      this.retryMs = RETRY_MS;
      this.receivedAt = performance.now();
      this.onState('live');
      this.subscribe();
    });
    socket.addEventListener('message', ({ data }) => this.receive(data));
    socket.addEventListener('close', () => {
      if (this.socket === socket) this.lose();
    });
  }

  lose() {
    this.socket = undefined;
    this.onState('away');
    setTimeout(() => this.reconnect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 1.6, RETRY_MS_MAX);
  }

  reconnect() {
    if (this.socket === undefined) this.connect();
  }

  ping() {
    const { socket } = this;
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (performance.now() - this.receivedAt > SILENCE_MS_MAX) {
      this.lose();
      socket.close();
      return;
    }
    socket.send('PING');
  }

  subscribe() {
    this.isAwaitingBook = true;
    this.sequences.clear();
    this.send({ type: 'market', operation: 'subscribe', assets_ids: [this.token] });
  }

  /** @param {{ assets_ids: readonly string[], operation: string, type?: string }} message */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN || message.assets_ids[0] === '') return;
    this.socket.send(JSON.stringify(message));
  }

  /** @param {string} text */
  receive(text) {
    this.receivedAt = performance.now();
    if (text === 'PONG') return;
    const event = /** @type {StreamEvent} */ (JSON.parse(text));
    // An event of a pair's book names its tokens inside.
    const isOther = event.asset_id !== undefined && event.asset_id !== this.token;
    if (event.event_type === undefined || isOther) return;
    if (this.isAwaitingBook && event.event_type !== 'book') return;
    if (!this.isNext(event)) {
      this.subscribe();
      return;
    }
    this.onEvent(event);
  }

  /** @param {StreamEvent} event */
  isNext({ event_type, previous, sequence, stream_id }) {
    const last = this.sequences.get(stream_id);
    this.sequences.set(stream_id, sequence);
    if (this.isAwaitingBook && event_type === 'book') {
      this.isAwaitingBook = false;
      this.onBegin();
      return true;
    }
    // All have the same number of digits, so they compare as text.
    return last === undefined || previous <= last;
  }
}
