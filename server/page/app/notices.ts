/** Short messages of the page: a fill, an order that ended, a failure. They disappear after some seconds. */
import { signal } from '@preact/signals';

export type NoticeKind = 'info' | 'good' | 'warning';

export interface Notice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly text: string;
}

const SHOWN_MS = 8_000;
const SHOWN_MAX = 3;

export const notices = signal<readonly Notice[]>([]);
/** Answer of the reader, `default` before; `denied` also where the browser has none, as on plain http. */
export const noticesAllowed = signal(
  typeof Notification === 'undefined' ? 'denied' : Notification.permission,
);
let count = 0;

/** Shows a notice. News also comes as a notice of the browser, where allowed and while the page is hidden. */
export function notify(kind: NoticeKind, text: string, isNews = false): void {
  count += 1;
  const id = count;
  notices.value = [...notices.peek(), { id, kind, text }].slice(-SHOWN_MAX);
  setTimeout(() => dismiss(id), SHOWN_MS);
  if (isNews && document.hidden && noticesAllowed.peek() === 'granted') showOutside(text);
}

/** Asks the reader for notices of the browser. */
export async function askForNotices(): Promise<void> {
  noticesAllowed.value = await Notification.requestPermission();
}

function showOutside(text: string): void {
  try {
    new Notification(document.title, { body: text });
  } catch {
    // Some phones take them from service workers only, of which the page has none.
    noticesAllowed.value = 'denied';
  }
}

export function dismiss(id: number): void {
  notices.value = notices.peek().filter((notice) => notice.id !== id);
}
