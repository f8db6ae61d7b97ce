/** Recovers one known signature again and again, and posts which library did it, and every answer that it gave. */
import { parentPort } from 'node:worker_threads';
import { KNOWN_ANSWERS } from '../../server/auth/known-signatures.ts';
import { recoverAddress, signatureLibrary } from '../../server/auth/secp256k1.ts';

const [{ digest, r, s, v }] = KNOWN_ANSWERS as [(typeof KNOWN_ANSWERS)[0]];
const signature = Buffer.from(`${r}${s}0${v}`, 'hex');
const hash = Buffer.from(digest, 'hex');
const out = new Uint8Array(20);
const answers = new Set<string>();
for (let i = 0; i < 500; i += 1) {
  recoverAddress(hash, signature, out.fill(0), 0);
  answers.add(Buffer.from(out).toString('hex'));
}
parentPort?.postMessage({ signatureLibrary, answers: [...answers] });
