/**
 * `connect`: the settings with which a client package finds the running node, as code to paste or to import.
 * Facts of the node are those of GET /exchange-info.
 */
import { type Context, Refused, type Run } from './context.ts';
import { answerOf, baseOf } from './node-request.ts';

interface ExchangeInfo {
  readonly chain_id: number;
  readonly credential_prefix: string;
}

interface Venue {
  /** Without a slash at the end. */
  readonly http: string;
  readonly ws: string;
  readonly chainId: number;
}

/** Credential headers that existing clients send. */
const CLIENT_PREFIX = 'POLY';
const INDENT = 2;

interface Part {
  readonly name: string;
  readonly notes: readonly string[];
  readonly value: object;
}

interface Language {
  readonly comment: string;
  readonly line: (name: string, json: string) => string;
}

const SCRIPT: Language = {
  comment: '//',
  line: (name, json) => `export const ${name} = ${json};`,
};
/** A JSON object of texts and numbers is an expression of Python too. */
const PYTHON: Language = { comment: '#', line: (name, json) => `${name} = ${json}` };

const OTHER_HOSTS = 'Hosts that are not named here stay those of the service.';

interface ClientRow {
  readonly language: Language;
  readonly parts: (venue: Venue) => readonly Part[];
}

const PACKAGES: Readonly<Record<string, ClientRow>> = {
  typescript: {
    language: SCRIPT,
    parts: ({ chainId, http, ws }) => [
      {
        name: 'venue',
        notes: ['@polymarket/clob-client-v2: new ClobClient({ ...venue, signer })'],
        value: { host: http, chain: chainId },
      },
      {
        name: 'environment',
        notes: [
          '@polymarket/client: createSecureClient({ environment: forkEnvironmentConfig(environment), .. })',
          OTHER_HOSTS,
        ],
        value: {
          name: 'local',
          chainId,
          clob: {
            rest: `${http}/clob`,
            market: { ws: `${ws}/ws/market` },
            user: { ws: `${ws}/ws/user` },
          },
          gamma: { rest: `${http}/gamma` },
          data: { rest: `${http}/data` },
          relayer: { rest: http },
        },
      },
    ],
  },
  python: {
    language: PYTHON,
    parts: ({ chainId, http, ws }) => [
      {
        name: 'VENUE',
        notes: ['py-clob-client, py-clob-client-v2: ClobClient(**VENUE, key=..)'],
        value: { host: http, chain_id: chainId },
      },
      {
        name: 'ENVIRONMENT',
        notes: [
          'polymarket: dataclasses.replace(get_environment_config(PRODUCTION), **ENVIRONMENT)',
          OTHER_HOSTS,
        ],
        value: {
          clob_url: `${http}/clob`,
          clob_market_ws_url: `${ws}/ws/market`,
          clob_user_ws_url: `${ws}/ws/user`,
          gamma_url: `${http}/gamma`,
          data_url: `${http}/data`,
          relayer_url: http,
        },
      },
    ],
  },
  ccxt: {
    language: SCRIPT,
    parts: ({ http, ws }) => [
      {
        name: 'venue',
        notes: ['ccxt: new ccxt.prediction.polymarket({ ...venue, privateKey, walletAddress })'],
        value: {
          // A plain wallet; its default is a deposit wallet.
          options: { signatureType: 0 },
          urls: {
            api: {
              clob: http,
              gamma: `${http}/gamma`,
              data: `${http}/data`,
              ws: `${ws}/ws/market`,
              wsUser: `${ws}/ws/user`,
            },
          },
        },
      },
    ],
  },
};

export const connect: Run = async (context, [name = ''], options) => {
  const client = Object.hasOwn(PACKAGES, name) ? PACKAGES[name] : undefined;
  if (client === undefined) {
    throw new Refused(`"${name}" is none of ${Object.keys(PACKAGES).join(', ')}`);
  }
  const base = baseOf(context, options, (config) => config).replace(/\/+$/, '');
  const parts = client.parts(await venueOf(context, base));
  const isJson = options.json === true;
  context.stdout.block(isJson ? jsonOf(parts) : codeOf(parts, client.language));
  return 'done';
};

function jsonOf(parts: readonly Part[]): string {
  const values = Object.fromEntries(parts.map(({ name, value }) => [name, value]));
  return `${JSON.stringify(values)}\n`;
}

function codeOf(parts: readonly Part[], { comment, line }: Language): string {
  const lines = parts.flatMap(({ name, notes, value }) => [
    ...notes.map((note) => `${comment} ${note}`),
    line(name, JSON.stringify(value, undefined, INDENT)),
  ]);
  return `${lines.join('\n')}\n`;
}

async function venueOf({ signal, stderr }: Context, http: string): Promise<Venue> {
  const info = await answerOf<ExchangeInfo>(new URL(`${http}/exchange-info`), signal);
  if (info.credential_prefix !== CLIENT_PREFIX) {
    stderr.block(
      `warning: the node wants headers ${info.credential_prefix}_*; clients need CLIENT_PROFILE=polymarket\n`,
    );
  }
  return { http, ws: http.replace(/^http/, 'ws'), chainId: info.chain_id };
}
