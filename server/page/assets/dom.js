// @ts-check
/** The few things that the parts of the page do with the document. */

/** The element of an id, which index.html has. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no #${id}`);
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
 * Writes a text only if it differs, so that an equal one costs no layout.
 * @param {Element} element @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A line or a badge, which is not shown without a text. @param {HTMLElement} element @param {string} text */
export function setBadge(element, text) {
  setText(element, text);
  element.hidden = text === '';
}

/** The width of a bar as --w. @param {HTMLElement} element @param {number} share 0 to 1 */
export function setBar(element, share) {
  const width = `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%`;
  if (element.style.getPropertyValue('--w') !== width) element.style.setProperty('--w', width);
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

/**
 * Fills a fieldset with a group of radio buttons. Each has a place for a value behind its text.
 * @param {HTMLElement} fieldset @param {readonly string[]} texts
 * @param {number} chosen index @param {(index: number) => void} onChoose
 */
export function fillChoices(fieldset, texts, chosen, onChoose) {
  const labels = texts.map((text, index) => {
    const label = make('label');
    const input = make('input');
    input.type = 'radio';
    input.name = fieldset.id;
    input.checked = index === chosen;
    input.addEventListener('change', () => onChoose(index));
    label.append(input, text, make('span', 'choice-value'));
    return label;
  });
  for (const label of fieldset.querySelectorAll('label')) label.remove();
  fieldset.append(...labels);
}

/** @param {HTMLElement} fieldset @param {readonly string[]} values of its buttons */
export function setChoiceValues(fieldset, values) {
  fieldset.querySelectorAll('.choice-value').forEach((element, index) => {
    setText(element, values[index] ?? '');
  });
}

/** Checks another button of a group. @param {HTMLElement} fieldset @param {number} chosen index */
export function choose(fieldset, chosen) {
  const input = fieldset.querySelectorAll('input')[chosen];
  if (input !== undefined) input.checked = true;
}

/** @param {Element} element @param {boolean} isCurrent @param {string} [value] of aria-current */
export function markCurrent(element, isCurrent, value = 'true') {
  if (isCurrent) element.setAttribute('aria-current', value);
  else element.removeAttribute('aria-current');
}
