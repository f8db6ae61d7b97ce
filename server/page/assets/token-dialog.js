// @ts-check
/** The dialog in which the reader enters the admin token; one at a time. */
import { byId } from './dom.js';

/** @type {Promise<string> | undefined} */
let answer;

/** @returns {Promise<string>} */
export function askToken() {
  answer ??= new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (byId('token-dialog'));
    const input = /** @type {HTMLInputElement} */ (byId('token'));
    input.value = '';
    dialog.addEventListener(
      'close',
      () => {
        answer = undefined;
        resolve(input.value);
      },
      { once: true },
    );
    dialog.showModal();
  });
  return answer;
}
