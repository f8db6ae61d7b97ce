import assert from 'node:assert/strict';
import test from 'node:test';
import type { OrderDomain, UnsignedOrder, UnsignedOrder2 } from '../../client/typed-data.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { CHAIN_ID, type Result, Trader } from '../common/traders.ts';

useCompiledNodes();

interface Example {
  readonly order: UnsignedOrder | UnsignedOrder2;
}
interface Document {
  readonly paths: Readonly<Record<string, { readonly post: Posted }>>;
}
interface Posted {
  readonly requestBody: {
    readonly content: { readonly 'application/json': { readonly example: unknown } };
  };
}
interface Info {
  readonly domain: { readonly name: string; readonly version: string };
  readonly exchange_address: string;
  readonly exchange_address_2?: string;
}

for (const [version, settings] of [
  ['1', {}],
  ['2', { ORDER_VERSION: '2' }],
] as const) {
  test(`the signed example of an order of version ${version} is accepted by a node with the demo`, async () => {
    const node = await TestNode.start(temporaryDirectory(), { DEMO: 'on', ...settings });
    const { paths } = (await get(node, '/openapi.json')).json as Document;
    const exampleOf = (path: string): unknown =>
      paths[path]!.post.requestBody.content['application/json'].example;
    const info = (await get(node, '/exchange-info')).json as Info;
    const isSecond = version === '2';
    const domain: OrderDomain = {
      name: info.domain.name,
      version: isSecond ? '2' : info.domain.version,
      chainId: CHAIN_ID,
      verifyingContract: isSecond ? info.exchange_address_2! : info.exchange_address,
    };
    const alice = await Trader.join(node, 'alice');
    const signedAs = (example: Example, salt: string): object => {
      const own = { salt, maker: alice.address, signer: alice.address };
      const { signature } = alice.wallet.signOrder(domain, { ...example.order, ...own, side: 0 });
      const order = { ...example.order, ...own, signature };
      return { ...example, owner: alice.trio.apiKey, order };
    };
    const one = signedAs(exampleOf('/order') as Example, '1');
    const [item] = exampleOf('/orders') as Example[];
    const asked = [
      ['/order', JSON.stringify(one)],
      ['/orders', JSON.stringify([signedAs(item!, '2')])],
    ] as const;
    for (const [path, body] of asked) {
      const { json, status, text } = await alice.ask(node, 'POST', path, body);
      assert.equal(status, 200, text);
      const { status: became, success } = [json].flat()[0] as Result;
      assert.deepEqual([success, became], [true, 'live'], text);
    }
    await node.stop();
  });
}
