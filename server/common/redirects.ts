/**
 * Redirects of a source that is mirrored, pulled or recorded: followed to the same host alone, so that a source cannot
 * have this node ask others. From http to https the port may be another one.
 * Rules: docs/protocol.md#redirects-of-a-source
 *
 * Thread: any.
 */

const REDIRECTS_MAX = 5;
const REDIRECTED = new Set([301, 302, 303, 307, 308]);
/** Statuses after which a POST goes on as GET. */
const TO_GET = new Set([301, 302, 303]);
const PLAIN = new Map([
  ['ws:', 'http:'],
  ['wss:', 'https:'],
]);

export class RedirectRefused extends Error {}

export function isRedirect(status: number): boolean {
  return REDIRECTED.has(status);
}

/**
 * Returns where a request goes on. Throws RedirectRefused where that is another host, or one redirect too many.
 * @param count of the redirects so far
 */
export function redirectTarget(from: string, location: string, count: number): string {
  const at = new URL(from);
  if (count >= REDIRECTS_MAX) throw new RedirectRefused(`${at.origin} redirects without end`);
  if (!URL.canParse(location, from)) {
    throw new RedirectRefused(`${at.origin} redirects to what is no address`);
  }
  const to = new URL(location, from);
  const [before, after] = [schemeOf(at), schemeOf(to)];
  const isUpgrade = before === 'http:' && after === 'https:' && to.hostname === at.hostname;
  if (!isUpgrade && !(before === after && to.host === at.host)) {
    throw new RedirectRefused(
      `${at.origin} redirects to another host, ${to.origin}: only the same host is followed`,
    );
  }
  // A stream stays one, whatever the redirect calls it.
  if (PLAIN.has(at.protocol)) to.protocol = after === 'https:' ? 'wss:' : 'ws:';
  to.hash = '';
  to.username = '';
  to.password = '';
  return to.href;
}

function schemeOf({ protocol }: URL): string {
  return PLAIN.get(protocol) ?? protocol;
}

export async function fetchFromHost(url: string, init: RequestInit): Promise<Response> {
  let [at, request] = [url, init];
  for (let count = 0; ; count++) {
    const response = await fetch(at, { ...request, redirect: 'manual' });
    const location = response.headers.get('location');
    if (!isRedirect(response.status) || location === null) return response;
    await response.body?.cancel();
    at = redirectTarget(at, location, count);
    if (TO_GET.has(response.status)) {
      const { body: _, method: _before, ...others } = request;
      request = others;
    }
  }
}
