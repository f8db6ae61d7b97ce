/** JSON bodies as they arrive. Thread: any. */

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined for bytes that are not UTF-8 or not JSON; JSON itself has no undefined. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}
