// @ts-check
/** Calls that tests make in the page. */

/** @type {MutationObserver | undefined} */
let observer;
const written = { own: 0, others: 0 };

const inPage = {
  /** Counts how often an element is written, and another one. @param {string} other @param {string} own */
  count(other, own) {
    const [rest, counted] = [other, own].map((selector) => document.querySelector(selector));
    observer = new MutationObserver((records) => {
      for (const { target } of records) {
        if (counted?.contains(target)) written.own += 1;
        else if (rest?.contains(target)) written.others += 1;
      }
    });
    observer.observe(document.body, { childList: true, characterData: true, subtree: true });
  },

  counted() {
    observer?.disconnect();
    return written;
  },

  /** Returns true when the focus is inside of an element. @param {string} selector */
  hasFocus(selector) {
    return document.querySelector(selector)?.contains(document.activeElement) ?? false;
  },

  /** Pixels that the page is wider and higher than the window. */
  overflow() {
    const { clientHeight, clientWidth, scrollHeight, scrollWidth } = document.documentElement;
    return [scrollWidth - clientWidth, scrollHeight - clientHeight];
  },

  /** Returns true when an element takes room. @param {string} selector */
  isShown(selector) {
    return (document.querySelector(selector)?.getClientRects().length ?? 0) > 0;
  },

  /** Findings of axe-core, a line for each rule. @param {readonly string[]} runOnly */
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
