// Places, reads and cancels an order with ccxt: node ccxt.mjs [URL]
// Packages: ccxt@4.5.84 and viem, beside this file. The node: CLIENT_PROFILE=polymarket npm start
import ccxt from 'ccxt';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

const host = process.argv[2] ?? 'http://127.0.0.1:3000';
const streams = host.replace('http', 'ws');
const privateKey = process.env.PRIVATE_KEY ?? generatePrivateKey();
const exchange = new ccxt.prediction.polymarket({
  privateKey,
  walletAddress: privateKeyToAddress(privateKey),
  // `connect ccxt` prints the rest. Type 3, its default, is a deposit wallet.
  options: { signatureType: 0 },
  urls: {
    api: {
      clob: host,
      gamma: `${host}/gamma`,
      data: `${host}/data`,
      ws: `${streams}/ws/market`,
      wsUser: `${streams}/ws/user`,
    },
  },
});

const listed = await (await fetch(`${host}/gamma/markets?active=true&closed=false&limit=100`)).json();
// It rounds prices of other ticks to 0, and signs no version 3, which markets of positions ask for.
const isKnown = ({ orderPriceMinTickSize: tick, version }) => [0.01, 0.001].includes(tick) && version !== 'v2';
const market = listed.find(isKnown);
const [token] = JSON.parse(market.clobTokenIds);
await exchange.createOrDeriveApiKey();
const { id, status } = await exchange.createOrder(token, 'limit', 'buy', 10, 0.02);
console.log('order:', status);
const open = await exchange.fetchOpenOrders(token);
console.log('open:', open.map((order) => `${order.amount} at ${order.price}`).join(', '));
await exchange.cancelOrder(id, token);
console.log('left:', (await exchange.fetchOpenOrders(token)).length);
