// Places, reads and cancels an order with @polymarket/clob-client-v2, and buys at once: node clob-client-v2.mjs [URL]
// Packages: @polymarket/clob-client-v2@1.1.0 and viem, beside this file. The node: CLIENT_PROFILE=polymarket npm start
import { ClobClient } from '@polymarket/clob-client-v2';
import { createWalletClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

const host = process.argv[2] ?? 'http://127.0.0.1:3000';
const account = privateKeyToAccount(process.env.PRIVATE_KEY ?? generatePrivateKey());
const signer = createWalletClient({ account, transport: http(host) });
const { chain_id: chain } = await (await fetch(`${host}/exchange-info`)).json();
const venue = { host, chain, signer };
const client = new ClobClient({ ...venue, creds: await new ClobClient(venue).createOrDeriveApiKey() });

const { data } = await client.getMarkets();
const { minimum_tick_size: price, tokens } = data.find((market) => market.accepting_orders);
const tokenID = tokens[0].token_id;
const { orderID, status } = await client.createAndPostOrder({ tokenID, side: 'BUY', price, size: 10 });
console.log('order:', status);
const open = await client.getOpenOrders();
console.log('open:', open.map((order) => `${order.original_size} at ${order.price}`).join(', '));
const { canceled } = await client.cancelOrder({ orderID });
console.log('canceled:', canceled[0] === orderID);

const terms = { tokenID, side: 'BUY', amount: 5 };
const bought = await client.createAndPostMarketOrder(terms, {}, 'FAK');
const trades = await client.getTrades({ id: bought.tradeIDs[0] });
console.log('bought:', bought.status, trades[0].status);
