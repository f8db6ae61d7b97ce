/**
 * `npm run bench -- signatures`: processor time that an order's digest and signer take, by turns beside the package
 * secp256k1 and, with --baseline, beside an older build of the same functions.
 *
 * Thread: the suite's only one. Non-goals: parsing, workers (the suite order-path).
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { UnsignedOrder } from '../../client/typed-data.ts';
import { Wallet } from '../../client/wallet.ts';
import { domainSeparator, orderDigest, type SignedFields } from '../../server/auth/eip712.ts';
import { PUBLISHED_DOMAINS } from '../../server/auth/exchange-domains.ts';
import { openPackage, recoverAddress } from '../../server/auth/secp256k1.ts';
import { openSystemLibrary, type Recovery } from '../../server/auth/system-secp256k1.ts';
import { type Measured, measure, measureBeside, type Task } from '../harness.ts';
import { Random } from '../random.ts';

export interface SignaturesShape {
  /** Signed orders of a block. */
  readonly orders: number;
  readonly blocks: number;
  /** Folder of a compiled older checkout. */
  readonly baseline?: string;
}

export const SIGNATURES_FULL: SignaturesShape = { orders: 1_000, blocks: 40 };

interface Signed {
  readonly fields: SignedFields;
  readonly digest: Uint8Array;
  /** 65 bytes: r, s, v. */
  readonly signature: Uint8Array;
}

/** Functions of a build. */
interface Functions {
  readonly orderDigest: typeof orderDigest;
  readonly recoverAddress: typeof recoverAddress;
}

const { contract, ...DOMAIN } = PUBLISHED_DOMAINS.polymarket;
const SIGNING_DOMAIN = { ...DOMAIN, verifyingContract: contract };
const SEPARATOR = domainSeparator(SIGNING_DOMAIN);
const V_BASE = 27;

export async function signaturesSuite(shape: SignaturesShape): Promise<Measured[]> {
  const { baseline, blocks } = shape;
  const orders = signedOrders(shape.orders);
  const packaged = recoveryTask('recovery by the package', orders, openPackage());
  const system = openSystemLibrary();
  const measured: Measured[] = [];
  if (system === undefined) measured.push(...(await measure([packaged], blocks)));
  else {
    const own = recoveryTask(`recovery by ${system.library}`, orders, system);
    measured.push(...measureBeside(own, packaged, blocks, 'by the package'));
  }
  const own = tasksOf({ orderDigest, recoverAddress }, orders);
  if (baseline === undefined) return [...measured, ...(await measure(own, blocks))];
  const older = tasksOf(await functionsIn(baseline), orders);
  return [...measured, ...own.flatMap((task, i) => measureBeside(task, older[i]!, blocks))];
}

function signedOrders(count: number): Signed[] {
  const random = new Random('signatures');
  const wallets = Array.from({ length: 8 }, (_, i) => Wallet.fromSeed(`signatures ${i}`));
  return Array.from({ length: count }, (_, i) => {
    const wallet = wallets[i % wallets.length]!;
    const order = orderOf(random, wallet);
    const { digest, signature } = wallet.signOrder(SIGNING_DOMAIN, order);
    const { maker, signer, taker } = order;
    const fields = { ...order, maker: bytes(maker), signer: bytes(signer), taker: bytes(taker) };
    return { fields, digest: bytes(digest), signature: bytes(signature) };
  });
}

function orderOf(random: Random, wallet: Wallet): UnsignedOrder {
  const words = Array.from({ length: 8 }, () => BigInt(random.next()));
  return {
    salt: String(1_700_000_000_000_000 + random.next()),
    maker: wallet.address,
    signer: wallet.address,
    taker: `0x${'0'.repeat(40)}`,
    tokenId: String(words.reduce((sum, word) => (sum << 32n) | word, 0n)),
    makerAmount: String(1_000 * random.between(1, 100_000)),
    takerAmount: String(1_000 * random.between(1, 100_000)),
    expiration: '0',
    nonce: '0',
    feeRateBps: '0',
    side: random.below(2) as 0 | 1,
    signatureType: 0,
  };
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
}

/** Each task has loops of its own, which the compiler does not share with another one's. */
function tasksOf(functions: Functions, orders: readonly Signed[]): Task[] {
  const { orderDigest: hash, recoverAddress: recover } = functions;
  const messages = orders.length;
  const digest = new Uint8Array(32);
  const address = new Uint8Array(20);
  const expectSigner = (isRecovered: boolean, { fields }: Signed): void => {
    if (!isRecovered || address[19] !== fields.signer[19]) throw new Error('another signer');
  };
  return [
    {
      name: 'digest of an order',
      messages,
      run: () => {
        for (const { fields } of orders) hash(SEPARATOR, fields, digest, 0);
      },
    },
    {
      name: 'signer of a digest',
      messages,
      run: () => {
        for (const each of orders) {
          expectSigner(recover(each.digest, each.signature, address, 0), each);
        }
      },
    },
    {
      name: 'digest and signer of an order',
      messages,
      run: () => {
        for (const each of orders) {
          hash(SEPARATOR, each.fields, digest, 0);
          expectSigner(recover(digest, each.signature, address, 0), each);
        }
      },
    },
  ];
}

function recoveryTask(name: string, orders: readonly Signed[], { recover }: Recovery): Task {
  const key = new Uint8Array(65);
  const inputs = orders.map(({ digest, signature }) => {
    return { compact: signature.slice(0, 64), id: signature[64]! - V_BASE, digest };
  });
  return {
    name,
    messages: orders.length,
    run: () => {
      for (const { compact, digest, id } of inputs) {
        if (!recover(compact, id, digest, key)) throw new Error('no key');
      }
    },
  };
}

/** Functions of an older build, whose modules lie where those of this one do. */
async function functionsIn(folder: string): Promise<Functions> {
  const [hashes, signers] = await Promise.all(
    ['eip712', 'secp256k1'].map(
      (name) => import(pathToFileURL(join(folder, `server/auth/${name}.js`)).href),
    ),
  );
  return { ...hashes, ...signers } as Functions;
}
