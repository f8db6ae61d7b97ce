// Places, reads and cancels an order with @polymarket/client: node polymarket-client.mjs [URL]
// Packages: @polymarket/client@0.2.0 and viem, beside this file. The node: CLIENT_PROFILE=polymarket npm start
import { createSecureClient, forkEnvironmentConfig } from '@polymarket/client';
import { privateKey } from '@polymarket/client/viem';
import { generatePrivateKey } from 'viem/accounts';

const host = process.argv[2] ?? 'http://127.0.0.1:3000';
const streams = host.replace('http', 'ws');
// `connect typescript` prints it.
const environment = forkEnvironmentConfig({
  name: 'local',
  clob: {
    rest: `${host}/clob`,
    market: { ws: `${streams}/ws/market` },
    user: { ws: `${streams}/ws/user` },
  },
  gamma: { rest: `${host}/gamma` },
  data: { rest: `${host}/data` },
});
const signer = privateKey(process.env.PRIVATE_KEY ?? generatePrivateKey());
const client = await createSecureClient({ environment, signer, wallet: await signer.getAddress() });

const { items } = await client.listMarkets({ closed: false }).firstPage();
const listed = await (await fetch(`${host}/gamma/markets?active=true&closed=false&limit=100`)).json();
// It signs orders of version 3 for combined bets alone, so markets of positions are left out.
const market = listed.find(({ version }) => version !== 'v2');
const [tokenId] = JSON.parse(market.clobTokenIds);
const placed = await client.placeLimitOrder({ tokenId, price: Number(market.orderPriceMinTickSize), size: 10, side: 'BUY' });
console.log('order:', String(placed.status).toLowerCase(), 'of', items.length > 0 ? 'the list' : 'none');
const open = await client.listOpenOrders().firstPage();
console.log('open:', open.items.length);
const { canceled } = await client.cancelOrder({ orderId: placed.orderId });
console.log('canceled:', canceled[0] === placed.orderId);
