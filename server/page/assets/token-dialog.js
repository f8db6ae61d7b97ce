// @ts-check
/** Asks the reader for the admin token, once at a time. */
import { byId } from './dom.js';

/** @type {Promise<string> | undefined} */
let asking;

/** @returns {Promise<string>} */
export function askToken() {
  asking ??= new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (byId('token-dialog'));
    const input = /** @type {HTMLInputElement} */ (byId('token'));
    input.value = '';
    dialog.addEventListener(
      'close',
      () => {
        asking = undefined;
        resolve(input.value);
      },
      { once: true },
    );
    dialog.showModal();
  });
  return asking;
}
