/**
 * Explains failed calls of etcd to whoever sets a node up: the setting that is wrong comes first, the text of the library
 * behind it.
 *
 * Pure.
 */

/** Meanings of the library's texts; the first row that fits counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [
    /authentication failed, invalid user ID or password/,
    'it does not know CLUSTER_USER with this CLUSTER_PASSWORD',
  ],
  [/user name is empty/, 'it wants a user: CLUSTER_USER and CLUSTER_PASSWORD'],
  [/authentication is not enabled/, 'it has no users: CLUSTER_USER must not be set'],
  [/permission denied/, 'CLUSTER_USER may not do that: it needs the role root'],
  [
    /does not match certificate's altnames/,
    'its certificate is for other names than the one in CLUSTER',
  ],
  [/certificate has expired|CERT_HAS_EXPIRED/, 'its certificate has expired'],
  [/certificate is not yet valid/, 'its certificate is not valid yet'],
  [
    /unable to verify|self-signed certificate|unable to get (local )?issuer/,
    'no authority of CLUSTER_CA has signed its certificate',
  ],
  [/alert certificate expired/, 'it refuses CLUSTER_CERT: that has expired'],
  [
    /alert (bad certificate|certificate required|unknown ca|certificate unknown|handshake failure)|alert number (42|116)/,
    'it refuses CLUSTER_CERT, or wants one',
  ],
  [
    /wrong version number|packet length too long/,
    'it does not speak TLS: etcd:// in place of etcds://',
  ],
  [/Failed to connect/, 'it closes the connection: etcds:// where it wants TLS'],
  [/ECONNREFUSED/, 'nobody listens there'],
];

const WRAPPING =
  /^\d+ [A-Z_]+: (?:No connection established\. Last error: )?(?:Error(?: \[\w+\])?: )?/;
const STAMP = /\s*\(\d{4}-\d\d-\d\dT[\d:.]+Z\)/;
const RESOLUTION = /\. Resolution note: *$/;
const OPENSSL = /^(?:[0-9A-F]{8,}:)?error:[0-9A-F]+:(?:SSL routines)?:[^:]*:([^:]+):.*$/s;

export function explained(text: string): string {
  const cause = text
    .replace(WRAPPING, '')
    .replace(RESOLUTION, '')
    .replace(STAMP, '')
    .trim()
    .replace(OPENSSL, '$1');
  const [, meaning] = MEANINGS.find(([pattern]) => pattern.test(text)) ?? [];
  return meaning === undefined ? cause : `${meaning} (${cause})`;
}
