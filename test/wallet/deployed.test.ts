/** GET /deployed on a whole node, through a restart (docs/protocol.md#deployed-wallets). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { depositWalletByEthers } from '../common/ethers.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';

useCompiledNodes();
const { beaconWalletFactory } = PROFILE_TABLE;
/** The wallet of the older kind of this key, which everybody knows. */
const UUPS = '0xdf8b9E8f9AB23f261F6e1B171B7454ae6E46Ba76';
const UUPS_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const owners = [
  new Wallet(UUPS_KEY),
  ...Array.from({ length: 30 }, (_, i) => Wallet.fromSeed(`owner ${i}`)),
];

const beaconOf = ({ address }: Wallet): string =>
  depositWalletByEthers(beaconWalletFactory.polymarket, address).wallet;

async function isDeployed(node: TestNode, address: string): Promise<unknown> {
  const { json, status } = await get(node, `/deployed?address=${address}&type=WALLET`);
  assert.equal(status, 200);
  return (json as { deployed: unknown }).deployed;
}

test('the usual wallet of an owner is deployed once the owner has a key, and no other one is', async () => {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }]);
  let node = await TestNode.start(dataDir, { CLIENT_PROFILE: 'polymarket' });
  assert.equal(await isDeployed(node, beaconOf(owners[0]!)), false);
  for (const wallet of owners) {
    const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, { wallet });
    client.close();
  }
  const seen = async () => ({
    beacon: await Promise.all(owners.map((owner) => isDeployed(node, beaconOf(owner)))),
    uups: await isDeployed(node, UUPS),
    plain: await isDeployed(node, owners[0]!.address),
    upper: await isDeployed(node, `0x${beaconOf(owners[1]!).slice(2).toUpperCase()}`),
  });
  const expected = { beacon: owners.map(() => true), uups: false, plain: false, upper: true };
  assert.deepEqual(await seen(), expected);
  await node.stop();
  node = await TestNode.start(dataDir, { CLIENT_PROFILE: 'polymarket' });
  assert.deepEqual(await seen(), expected);
  for (const query of ['', '?address=0x12', `?address=${owners[0]!.address}&type=OTHER`]) {
    assert.equal((await get(node, `/deployed${query}`)).status, 400, query);
  }
});

test('nothing is deployed where no factory is configured', async () => {
  const node = await TestNode.start(temporaryDirectory());
  const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, { wallet: owners[0]! });
  client.close();
  assert.equal(await isDeployed(node, beaconOf(owners[0]!)), false);
});
