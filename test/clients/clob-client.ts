/**
 * Every call of @polymarket/clob-client, 4.22.8 and 5.8.1; one stands for all of its requests for
 * quotes.
 */
import assert from 'node:assert/strict';
import type { Call } from './calls.ts';
import { answered, type Client } from './client-answers.ts';
import { clobCalls, readOnlyCalls } from './clob-calls.ts';
import { CLOB_MONEY, clobMoneyClient } from './clob-money.ts';
import type { MoneyPackage } from './money.ts';
import { CHAIN_ID, type Loader, type Venue } from './venue.ts';

interface Package {
  readonly ClobClient: new (...parts: readonly unknown[]) => Client;
}
interface WalletPackage {
  readonly Wallet: new (key: string) => { readonly address: string };
}

export async function clobClientCalls(venue: Venue, version: 4 | 5): Promise<readonly Call[]> {
  const { host, load } = venue;
  const { ClobClient } = load.require<Package>(`clob-client-${version}`);
  const { Wallet } = load.require<WalletPackage>('@ethersproject/wallet');
  const join = async (digit: string): Promise<Client> => {
    const signer = new Wallet(`0x${`${version}${digit}`.repeat(32)}`);
    const creds = await new ClobClient(host, CHAIN_ID, signer).createOrDeriveApiKey!();
    return new ClobClient(host, CHAIN_ID, signer, creds);
  };
  const client = await join('1');
  const shared: readonly Call[] = [
    ...clobCalls(venue, { client, leaver: await join('2') }),
    {
      name: 'getBuilderTrades',
      run: () => answered(client.getBuilderTrades!({})),
      cannot: 'the client asks for credentials of a builder, and there are none here',
    },
  ];
  const { address } = new Wallet(`0x${`${version}1`.repeat(32)}`);
  return version === 4 ? shared : [...shared, ...laterCalls(client, address)];
}

function laterCalls(client: Client, address: string): readonly Call[] {
  const validate: Call = {
    name: 'validateReadonlyApiKey',
    run: async () => {
      const { apiKey } = await answered(client.createReadonlyApiKey!());
      assert.equal(await client.validateReadonlyApiKey!(address, apiKey), 'valid');
    },
  };
  const { rfq } = client as unknown as { readonly rfq: Client };
  const quotes: Call = {
    name: 'rfq.rfqConfig, and all else under rfq',
    run: () => answered(rfq.rfqConfig!()),
    cannot: 'there are no requests for quotes here',
  };
  return [...readOnlyCalls(client), validate, quotes];
}

export function clobClientMoney(load: Loader): MoneyPackage {
  const { ClobClient } = load.require<Package>('clob-client-5');
  const { Wallet } = load.require<WalletPackage>('@ethersproject/wallet');
  return {
    ...CLOB_MONEY,
    address: (key) => new Wallet(key).address,
    join: async (host, key, type, funder) => {
      const signer = new Wallet(key);
      const creds = await new ClobClient(host, CHAIN_ID, signer).createOrDeriveApiKey!();
      return clobMoneyClient(new ClobClient(host, CHAIN_ID, signer, creds, type, funder));
    },
  };
}
