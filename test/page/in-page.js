// @ts-check
/**
 * What runs in the page for its tests, before any script of its own: it keeps the sockets that the page
 * opens, so that a test can hand it events, and counts what is written.
 */

/** @type {WebSocket[]} */
const sockets = [];
globalThis.WebSocket = class extends WebSocket {
  /** @param {string | URL} url */
  constructor(url) {
    super(url);
    sockets.push(this);
  }
};

/** An event of the stream, as the page's socket would bring it. @param {object} event */
function bring(event) {
  const data = JSON.stringify(event);
  sockets.at(-1)?.dispatchEvent(new MessageEvent('message', { data }));
}

/** @param {number} sequence @param {readonly object[]} price_changes */
function tell(sequence, price_changes) {
  const place = (/** @type {number} */ number) => String(number).padStart(19, '0');
  const places = { previous: place(sequence - 1), sequence: place(sequence) };
  bring({ event_type: 'price_change', stream_id: 'told', ...places, price_changes });
}

const inPage = {
  bring,
  tell,

  /**
   * So many changes of the second best bid within about a second, and how often it and the best one
   * were written meanwhile.
   *
   * @param {number} count
   * @param {string} asset_id
   */
  async burst(count, asset_id) {
    const [best, next] = document.querySelectorAll('#ladder .bids tr');
    const table = document.querySelector('#ladder');
    const size = next?.querySelector('td');
    const price = next?.querySelector('th')?.textContent;
    if (!table || !best || !size) throw new Error('there is no ladder');
    let own = 0;
    let others = 0;
    const observer = new MutationObserver((records) => {
      for (const { target } of records) {
        if (size.contains(target)) own += 1;
        else if (best.contains(target)) others += 1;
      }
    });
    observer.observe(table, { childList: true, subtree: true });
    const began = performance.now();
    for (let i = 1; i <= count; i++) {
      tell(i, [{ asset_id, price, size: String(i), side: 'BUY' }]);
      if (began + i - performance.now() > 4) await new Promise((go) => setTimeout(go, 4));
    }
    await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    observer.disconnect();
    return { own, others, shown: size.textContent };
  },

  /** Whether the focus is inside of an element. @param {string} selector */
  hasFocus(selector) {
    return document.querySelector(selector)?.contains(document.activeElement) ?? false;
  },

  /** By how much the page is wider and higher than the window. */
  overflow() {
    const { clientHeight, clientWidth, scrollHeight, scrollWidth } = document.documentElement;
    return [scrollWidth - clientWidth, scrollHeight - clientHeight];
  },

  /** Whether an element takes any room. @param {string} selector */
  isShown(selector) {
    return (document.querySelector(selector)?.getClientRects().length ?? 0) > 0;
  },

  /** What axe-core finds wrong, a line for each rule. @param {readonly string[]} runOnly */
  async faults(runOnly) {
    /** @typedef {{ html: string, failureSummary: string }} Place */
    /** @typedef {{ id: string, help: string, nodes: readonly Place[] }} Violation */
    const { axe } =
      /** @type {{ axe: { run(options: object): Promise<{ violations: readonly Violation[] }> } }} */ (
        /** @type {unknown} */ (globalThis)
      );
    const { violations } = await axe.run({ runOnly, resultTypes: ['violations'] });
    return violations.map(
      ({ help, id, nodes }) => `${id}: ${help}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
    );
  },
};
Object.assign(globalThis, { inPage });
