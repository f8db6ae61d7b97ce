/**
 * Addresses that may be mirrored as a catalog source.
 *
 * Thread: any; pure. Not here: whether anything answers there.
 */

export function sourceUrlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return 'must be an http or https URL';
  const { protocol, username, password, search, hash } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL';
  if (username !== '' || password !== '') return 'must not hold a user name or password';
  if (search !== '' || hash !== '') return 'must not hold a query or fragment';
  return undefined;
}
