// @ts-check
/** Shared calls of the report's parts on the document. */

/** The element of an id, which report.html has. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`report.html has no #${id}`);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag
 * @param {string} [className] @param {string} [text] @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, className = '', text = '') {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  if (text !== '') element.textContent = text;
  return element;
}

/** The head of a table. @param {readonly string[]} titles of its columns */
export function makeHead(titles) {
  const row = make('tr');
  for (const title of titles) {
    const cell = make('th', '', title);
    cell.scope = 'col';
    row.append(cell);
  }
  const head = make('thead');
  head.append(row);
  return head;
}

/**
 * Fills a select with texts. @param {string} id @param {readonly string[]} texts @param {(index: number) => void} onChoose
 */
export function choices(id, texts, onChoose) {
  const select = /** @type {HTMLSelectElement} */ (byId(id));
  select.replaceChildren(...texts.map((text) => make('option', '', text)));
  select.disabled = texts.length === 0;
  select.onchange = () => onChoose(select.selectedIndex);
}

/**
 * Writes a text only if it differs, so that an equal one costs no layout.
 * @param {Element} element @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A function that schedules `draw` for the next frame, once for any number of calls.
 * @param {() => void} draw @param {number} [msMin] shortest time between two calls of `draw`
 */
export function inNextFrame(draw, msMin = 0) {
  let isScheduled = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  const frame = () => {
    isScheduled = false;
    drawnAt = performance.now();
    draw();
  };
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    const wait = drawnAt + msMin - performance.now();
    if (wait <= 0) requestAnimationFrame(frame);
    else setTimeout(() => requestAnimationFrame(frame), wait);
  };
}
