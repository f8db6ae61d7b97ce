/**
 * Table of commands: parser, help, README and tests come from it. The code of a command is loaded when it is
 * called, so that `--help` is fast.
 */
import { INVITES_OF_BATCH_MAX } from '../../engine/tables/capacities.ts';
import { MS_KINDS } from '../faults/kinds.ts';
import type { Run } from './context.ts';
import { LIST_OPTIONS } from './list-options.ts';

export interface CommandRow {
  readonly does: string;
  /**
   * Relation to a node on the same DATA_DIR: none may run; one may run; the command sends requests to it;
   * irrelevant; the running node does it, else the command; the command is the node.
   */
  readonly node: 'stopped' | 'shared' | 'remote' | 'any' | 'either' | 'itself';
  /** For `stopped`: `made` creates DATA_DIR first, `read` only reads; absent: it writes. */
  readonly directory?: 'made' | 'read';
  /** Argument names; those in brackets are optional. */
  readonly args?: readonly string[];
  /** Flags in the notation of the parser, with their help texts. */
  readonly options?: Readonly<Record<string, string>>;
  /** Loads the code. Absent for an operation of the admin listener: operation-commands.ts has its code. */
  readonly run?: () => Promise<Run>;
}

const backtest = () => import('./backtest-command.ts');
const book = () => import('./book-command.ts');
const catalog = () => import('./catalog-commands.ts');
const clock = () => import('./clock-command.ts');
const clusterBegin = () => import('./cluster-begin.ts');
const clusterExample = () => import('./cluster-example.ts');
const connect = () => import('./connect-command.ts');
const deposit = () => import('./deposit-command.ts');
const doctor = () => import('./doctor-command.ts');
const files = () => import('./data-commands.ts');
const invite = () => import('./invite-commands.ts');
const ledger = () => import('./ledger-commands.ts');
const mcp = () => import('./mcp-command.ts');
const marketList = () => import('./market-list.ts');
const operator = () => import('./operator-commands.ts');
const play = () => import('./play-command.ts');
const record = () => import('./record-commands.ts');
const recordVenue = () => import('./record-venue-command.ts');
const replay = () => import('./replay-command.ts');
const resolve = () => import('./resolve-commands.ts');
const start = () => import('./start-command.ts');
const trades = () => import('./trades-command.ts');
const venueExport = () => import('./venue-export.ts');
const wallet = () => import('./wallet-commands.ts');

const JSON_OPTION = { '--json': 'the answer as JSON' } as const;
const ADMIN_OPTIONS = {
  ...JSON_OPTION,
  '--url <url>': 'the admin listener (http://ADMIN_HOST:ADMIN_PORT of the environment)',
} as const;

const NODE_OPTION = { '--url <url>': 'the node (http://HOST:PORT of the environment)' } as const;
const REQUEST_OPTIONS = {
  '--id <text>': 'a request with the same id is done once; made and printed unless given',
  ...ADMIN_OPTIONS,
} as const;
const PAYOUT_OPTIONS = {
  '--dry-run': 'shows what would be paid to whom; changes nothing',
  '--review <time>':
    'such as 24h: proposes the payout, which halts the market now and is paid after this time',
  '--note <text>': 'at most 280 characters that everybody reads with the payout',
  '--yes': 'without being asked; RESOLVE_CONFIRM=always needs it where there is no terminal',
  ...REQUEST_OPTIONS,
} as const;
const FEE_SCHEDULE_OPTIONS = {
  '--fee-rate <part>':
    'rate of its fee schedule, 0 to 1: fees are shares x rate x (p (1 - p))^exponent of collateral',
  '--fee-exponent <number>': 'exponent of the schedule, 0 to 4 (1)',
  '--fee-rebate <part>': 'part of such a fee that the maker may be paid back, 0 to 1 (0)',
};
const MADE_OPTIONS = {
  '--description <text>': 'the rules',
  '--start <time>': 'when it begins, such as 2027-01-01T18:00:00Z (now)',
  '--end <time>': 'its date, which ends no trading of its markets',
  '--key <text>': 'tells it from others of the same name',
  '--id <text>': 'the older name of --key',
  ...ADMIN_OPTIONS,
} as const;

export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  start: {
    does: 'runs the node; settings are environment variables',
    node: 'itself',
    options: {
      '--port <number>': 'instead of PORT (3000)',
      '--admin-port <number>': 'instead of ADMIN_PORT (3001)',
      '--no-demo': 'no demo catalog on a first start',
      '--play': 'with a ledger and play money: LEDGER=on, and FAUCET=1000 unless it is set',
    },
    run: from(start, 'start'),
  },
  play: {
    does: 'runs a node on a recording of a source: its books, its time, and play money',
    node: 'itself',
    args: ['FILE'],
    options: {
      '--speed <times>': '1 to 1000 times as fast, or max: time stands until it is stepped (1)',
      '--from <time>': 'begins here: unix seconds, or a time such as 2026-11-22T12:00:00Z',
      '--to <time>': 'ends here',
      '--port <number>': 'instead of PORT (3000)',
      '--admin-port <number>': 'instead of ADMIN_PORT (3001)',
    },
    run: from(play, 'play'),
  },
  'catalog import': {
    does: 'loads a catalog file (JSON: {tags, series, sites, events}) into DATA_DIR; - is standard input',
    node: 'shared',
    args: ['FILE'],
    options: {
      '--dry-run': 'says what it would do to markets and orders, and writes nothing',
      '--merge': 'adds and replaces events, tags, series and sites by id, and leaves the rest',
      '--strict': 'refuses a file with objects that would be left out or get no book',
      '--force': 'removes more than a tenth of the markets, or more than 10 where that is more',
      '--skip-changed': 'leaves out markets that contradict those registered, instead of failing',
    },
    run: from(catalog, 'importing'),
  },
  'catalog export': {
    does: 'writes the catalog of DATA_DIR as such a file; - is standard output',
    node: 'shared',
    args: ['FILE'],
    run: from(catalog, 'exporting'),
  },
  'catalog sync': {
    does: 'pulls the catalog of another catalog API into DATA_DIR',
    node: 'shared',
    args: ['URL'],
    options: {
      '--force': 'removes more than a tenth of the markets, or more than 10 where that is more',
    },
    run: from(catalog, 'syncing'),
  },
  'catalog schema': {
    does: 'prints the JSON Schema of a catalog file, with an example',
    node: 'any',
    run: from(catalog, 'schema'),
  },
  'keys list': {
    does: 'API keys and read-only keys that were issued; no secret is shown',
    node: 'either',
    options: { '--wallet <wallet>': 'those of one wallet', '--json': 'a line of JSON each' },
    run: from(operator, 'listKeys'),
  },
  'keys revoke': {
    does: 'revokes a key, by what `keys list` calls it',
    node: 'either',
    args: ['KEY'],
    options: JSON_OPTION,
  },
  'keys issue': {
    does: 'issues the API key of a wallet without its signature, and prints it as JSON',
    node: 'either',
    args: ['WALLET'],
    options: { '--nonce <number>': 'the nonce that it is for (0)' },
  },
  'orders list': {
    does: 'open orders of a wallet, newest first',
    node: 'remote',
    args: ['WALLET'],
    options: ADMIN_OPTIONS,
    run: from(operator, 'listOrders'),
  },
  'orders cancel': {
    does: 'cancels all open orders of a wallet, or one by its id',
    node: 'remote',
    args: ['WALLET', '[ID]'],
    options: ADMIN_OPTIONS,
  },
  'wallet list': {
    does: 'wallets with money, trades or a name: cash, open orders, bans',
    node: 'remote',
    options: {
      '--search <text>': 'those with this part in their address or name',
      '--funded': 'those with cash or shares',
      '--banned': 'those that are banned',
      ...LIST_OPTIONS,
      '--url <url>': ADMIN_OPTIONS['--url <url>'],
    },
    run: from(wallet, 'listWallets'),
  },
  'wallet name': {
    does: 'gives a wallet a name that only operators see and commands take; without NAME removes it',
    node: 'either',
    args: ['WALLET', '[NAME]'],
    options: JSON_OPTION,
  },
  'wallet ban': {
    does: 'bans a wallet: its keys are answered 403, orders for it are refused, its open orders end',
    node: 'either',
    args: ['WALLET'],
    options: { '--reason <text>': 'for `wallet bans`', ...JSON_OPTION },
  },
  'wallet unban': {
    does: 'lifts the ban of a wallet',
    node: 'either',
    args: ['WALLET'],
    options: JSON_OPTION,
  },
  'wallet bans': {
    does: 'banned wallets',
    node: 'either',
    options: JSON_OPTION,
  },
  'venue pause': {
    does: 'pauses the venue, also over a restart: orders are refused; cancels, splits and merges are taken',
    node: 'either',
    options: { '--reason <text>': 'for /ready and the log', ...JSON_OPTION },
  },
  'venue resume': {
    does: 'resumes the venue',
    node: 'either',
    options: JSON_OPTION,
  },
  'venue message': {
    does: 'shows a message to everybody on the page and in GET /status; without TEXT takes it away',
    node: 'either',
    args: ['[TEXT]'],
    options: JSON_OPTION,
  },
  'limits list': {
    does: 'the rate limits that apply',
    node: 'remote',
    options: ADMIN_OPTIONS,
  },
  'limits set': {
    does: 'changes a rate limit until the node restarts: requests/seconds such as 400/10, or off',
    node: 'remote',
    args: ['NAME', 'LIMIT'],
    options: ADMIN_OPTIONS,
  },
  'fault add': {
    does: 'makes a fault (FAULTS=operator): KIND is a row of docs/protocol.md#faults',
    node: 'remote',
    args: ['KIND'],
    options: {
      '--key <key>': 'for an API key alone',
      '--wallet <wallet>': 'for the keys of a wallet alone',
      '--market <market>': 'for a market alone',
      '--count <number>': 'ends after so many uses',
      '--seconds <number>': 'ends after so many seconds',
      '--probability <number>': 'of each use, 0 to 1 (1)',
      '--seed <number>': 'draws the same uses again; made and printed unless given',
      '--ms <number>': `milliseconds of ${MS_KINDS.map(({ kind, ms }) => `${kind} (${ms.usual})`).join(', ')}`,
      ...ADMIN_OPTIONS,
    },
  },
  'fault list': { does: 'faults in force', node: 'remote', options: ADMIN_OPTIONS },
  'fault clear': {
    does: 'ends all faults with all their phases, or the one that `fault list` calls so',
    node: 'remote',
    args: ['[ID]'],
    options: ADMIN_OPTIONS,
  },
  'ledger deposit': {
    does: 'pays collateral in to a wallet: AMOUNT is a decimal; or to all wallets of a file',
    node: 'remote',
    args: ['[WALLET]', '[AMOUNT]'],
    options: {
      '--signer <address>': 'who may sign for the wallet',
      '--file <file>':
        'CSV with wallet, amount and optional signer; checked whole before anything is paid in',
      '--dry-run': 'checks the file, and pays in nothing',
      ...REQUEST_OPTIONS,
      '--id <text>':
        'a request with the same id is done once; made and printed unless given; that of a file is its name',
    },
    run: from(deposit, 'deposit'),
  },
  'ledger withdraw': {
    does: 'pays free collateral out of a wallet',
    node: 'remote',
    args: ['WALLET', 'AMOUNT'],
    options: REQUEST_OPTIONS,
  },
  'ledger declare': {
    does: 'says who may sign for a wallet',
    node: 'remote',
    args: ['WALLET', 'SIGNER'],
    options: REQUEST_OPTIONS,
  },
  'ledger balance': {
    does: 'cash and shares of a wallet',
    node: 'remote',
    args: ['WALLET'],
    options: { '--parquet <file>': 'writes them into this file as Parquet', ...ADMIN_OPTIONS },
    run: from(ledger, 'balance'),
  },
  'ledger statement': {
    does: 'entries of a wallet with their running balance, newest first',
    node: 'remote',
    args: ['WALLET'],
    options: {
      '--limit <number>': 'so many of them (100)',
      '--csv': 'as CSV',
      '--parquet <file>': 'writes them into this file as Parquet',
      ...ADMIN_OPTIONS,
      '--json': 'a line of JSON each',
    },
    run: from(ledger, 'statement'),
  },
  'ledger fees': {
    does: 'fees of the venue, and what was paid out of them, newest first',
    node: 'remote',
    options: { '--limit <number>': 'so many payments (100)', ...ADMIN_OPTIONS },
    run: from(ledger, 'fees'),
  },
  'ledger pay-fees': {
    does: 'pays fees of the venue to a wallet',
    node: 'remote',
    args: ['WALLET', 'AMOUNT'],
    options: REQUEST_OPTIONS,
  },
  'ledger pay-rebates': {
    does: 'pays makers back their part of the fees of a day, each wallet once',
    node: 'remote',
    options: {
      '--date <day>': 'a day of UTC that is over, such as 2027-01-31 (yesterday)',
      ...ADMIN_OPTIONS,
    },
  },
  'ledger draw-fees': {
    does: 'takes fees of the venue out of the ledger',
    node: 'remote',
    args: ['AMOUNT'],
    options: REQUEST_OPTIONS,
  },
  'ledger audit': {
    does: 'rebuilds the ledger from snapshot and log, and checks its sums',
    node: 'shared',
    options: JSON_OPTION,
    run: from(ledger, 'audit'),
  },
  'invite create': {
    does: 'makes invitations and prints their codes, which are shown once; the node gets digests alone',
    node: 'remote',
    options: {
      '--count <number>': `1 to ${INVITES_OF_BATCH_MAX} of them (1)`,
      '--cash <amount>': 'a decimal that each code brings; needs a ledger (0)',
      '--note <text>': 'for `invite list`',
      '--base <url>': 'where people find the node: prints links that end in /app/join#CODE',
      '--csv': 'as CSV with the columns code and link',
      ...ADMIN_OPTIONS,
    },
    run: from(invite, 'createInvites'),
  },
  'invite list': {
    does: 'batches of invitations: open, redeemed and revoked codes; never a code',
    node: 'remote',
    options: ADMIN_OPTIONS,
    run: from(invite, 'listInvites'),
  },
  'invite revoke': {
    does: 'revokes the open codes of a batch, by its number, or one code',
    node: 'remote',
    args: ['BATCH'],
    options: ADMIN_OPTIONS,
    run: from(invite, 'revokeInvites'),
  },
  'season end': {
    does: 'ends the season: standings are archived, and each wallet goes back to the start sum',
    node: 'remote',
    options: {
      '--start-sum <amount>': 'cash of each wallet at the start of the next season',
      '--name <text>': 'name of the season that ends',
      ...REQUEST_OPTIONS,
    },
  },
  'event create': {
    does: 'makes an event',
    node: 'remote',
    options: {
      '--title <text>': 'its title',
      '--tag <labels...>': 'a label; may be repeated',
      '--neg-risk': 'at most one of its markets can be Yes',
      ...MADE_OPTIONS,
    },
  },
  'event list': {
    does: 'events of the catalog with their markets, newest first',
    node: 'remote',
    options: {
      '--state <state>': 'those that are open or closed',
      '--tag <slug>': 'those with this tag',
      '--by <column>': 'order: new, volume, liquidity or end (new)',
      ...LIST_OPTIONS,
      ...NODE_OPTION,
    },
    run: from(marketList, 'listEvents'),
  },
  'event edit': {
    does: 'changes what an event says',
    node: 'remote',
    args: ['EVENT'],
    options: {
      '--title <text>': 'its title',
      '--description <text>': 'the rules',
      '--tag <labels...>': 'a label; all of them are replaced',
      '--start <time>': 'when it begins, such as 2027-01-01T18:00:00Z',
      '--end <time>': 'such as 2027-01-31T18:00:00Z',
      ...ADMIN_OPTIONS,
    },
  },
  'market create': {
    does: 'makes a market; prints its condition id, the token id of each outcome, and its slug',
    node: 'remote',
    options: {
      '--question <text>': 'its question',
      '--outcome <names...>': 'a name; one for each outcome',
      '--event <event>':
        'an event that `event create` made; without it the market gets one of its own',
      '--tick <size>': 'tick size (0.01)',
      '--minimum <shares>': 'least size of an order (5)',
      '--fee <bps>': 'base fee of takers in basis points (0)',
      '--taker-delay <seconds>': 'seconds for which an order that would match waits (0)',
      ...FEE_SCHEDULE_OPTIONS,
      '--neg-risk': 'at most one market of its event can be Yes',
      '--liquidity <amount>': 'with a ledger: the house quotes it, and loses this much at most',
      '--protocol <number>': '2: its tokens are positions, for orders of version 3 (1)',
      '--keep-open': '--end is a date only',
      ...MADE_OPTIONS,
      '--end <time>': 'when it ends: it takes no orders from then on, and open ones end',
    },
  },
  'market list': {
    does: 'markets of the catalog with their state and prices, newest first',
    node: 'remote',
    options: {
      '--state <state>': 'those that are open, halted or closed',
      '--event <event>': 'those of one event, by its number or slug',
      '--tag <slug>': 'those with this tag',
      '--by <column>': 'order: new, volume, liquidity or end (new)',
      '--tokens': 'a line for each outcome, with its token id',
      ...LIST_OPTIONS,
      ...NODE_OPTION,
    },
    run: from(marketList, 'listMarkets'),
  },
  'market edit': {
    does: 'changes what a market says, its tick, minimum, fee, taker delay or end',
    node: 'remote',
    args: ['MARKET'],
    options: {
      '--question <text>': 'its question',
      '--description <text>': 'the rules',
      '--end <time>': 'when it ends, such as 2027-01-31T18:00:00Z, as long as it has not ended',
      '--keep-open': '--end is a date only; without --end it takes the end away',
      '--tick <size>': 'tick size',
      '--minimum <shares>': 'least size of an order',
      '--fee <bps>': 'base fee of takers in basis points',
      '--taker-delay <seconds>': 'seconds for which an order that would match waits',
      ...FEE_SCHEDULE_OPTIONS,
      ...ADMIN_OPTIONS,
    },
  },
  'market halt': {
    does: 'refuses orders for a market; open ones stay',
    node: 'remote',
    args: ['MARKET'],
    options: ADMIN_OPTIONS,
  },
  'market resume': {
    does: 'takes orders for a halted market again',
    node: 'remote',
    args: ['MARKET'],
    options: ADMIN_OPTIONS,
  },
  'market close': {
    does: 'ends a market for good: its open orders end, it can still resolve',
    node: 'remote',
    args: ['MARKET'],
    options: ADMIN_OPTIONS,
  },
  'market resolve': {
    does: 'pays out a market, for good; on a terminal it shows what is paid, and asks',
    node: 'remote',
    args: ['MARKET'],
    options: {
      '--winner <outcome>': 'name or token id of the outcome that pays all',
      '--payout <weights>':
        'instead: a whole number for each outcome, such as 1,0, in the order that the catalog shows',
      ...PAYOUT_OPTIONS,
    },
    run: from(resolve, 'resolve'),
  },
  'market void': {
    does: 'pays out a market with equal weights, as `market resolve` does',
    node: 'remote',
    args: ['MARKET'],
    options: PAYOUT_OPTIONS,
    run: from(resolve, 'voidMarket'),
  },
  'market proposals': {
    does: 'proposed payouts with their deadlines',
    node: 'remote',
    options: ADMIN_OPTIONS,
  },
  'market withdraw-proposal': {
    does: 'takes a proposed payout back: the market trades as before',
    node: 'remote',
    args: ['MARKET'],
    options: REQUEST_OPTIONS,
  },
  'liquidity add': {
    does: 'pays in to the account from which the house quotes a market: it can lose this much more',
    node: 'remote',
    args: ['MARKET', 'AMOUNT'],
    options: {
      '--price <price>': 'price of the first outcome, such as 0.25 (as it is; at first 0.5)',
      ...REQUEST_OPTIONS,
    },
  },
  'liquidity remove': {
    does: 'pays out of that account; without AMOUNT all that is free, and the quotes end',
    node: 'remote',
    args: ['MARKET', '[AMOUNT]'],
    options: REQUEST_OPTIONS,
  },
  'liquidity list': {
    does: 'markets that the house quotes or has quoted, and its result by the outcome that wins',
    node: 'remote',
    options: ADMIN_OPTIONS,
  },
  'cluster status': {
    does: 'the nodes of the cluster, how far each is, and the members of etcd',
    node: 'remote',
    options: ADMIN_OPTIONS,
  },
  'cluster example': {
    does: 'writes settings, scripts and units for three members of etcd and some nodes on this machine',
    node: 'any',
    options: {
      '--nodes <number>': '1 to 9 of them (3)',
      '--dir <directory>': 'where; it must not be there, or be empty (./cluster)',
      '--port <number>': 'first port; each node takes five, a hundred further (3000)',
    },
    run: from(clusterExample, 'example'),
  },
  'cluster begin': {
    does: 'begins the empty log of CLUSTER with the records of one directory',
    node: 'any',
    options: { '--from <directory>': 'the DATA_DIR of a node that does not run' },
    run: from(clusterBegin, 'begin'),
  },
  'cluster handover': {
    does: 'gives the lead to NODE, or to the follower that is least behind',
    node: 'remote',
    args: ['[NODE]'],
    options: ADMIN_OPTIONS,
  },
  'cluster defrag': {
    does: 'shrinks the file of MEMBER of etcd; one at a time, the leading one last',
    node: 'remote',
    args: ['MEMBER'],
    options: ADMIN_OPTIONS,
  },
  audit: {
    does: 'the audit log: changes that operators made, newest first',
    node: 'either',
    options: { '--limit <number>': 'so many of them (20)', '--json': 'a line of JSON each' },
    run: from(operator, 'audit'),
  },
  book: {
    does: 'draws the book of a token, or of an outcome of a market (its first one)',
    node: 'remote',
    args: ['MARKET', '[OUTCOME]'],
    options: {
      ...NODE_OPTION,
      '--levels <number>': 'price levels of each side (10)',
      '--watch': 'draws it again whenever it changes',
    },
    run: from(book, 'book'),
  },
  'trades export': {
    does: 'writes all fills, oldest first, also those older than GET /trades reaches',
    node: 'shared',
    args: ['[FILE]'],
    options: {
      '--format <name>': 'csv, jsonl or parquet (parquet for a FILE with this end, else csv)',
      '--token <id>': 'fills in which one side traded this token',
      '--market <market>': 'those of one market, by its number, slug or condition id',
      '--wallet <wallet>': 'those that a wallet took or made, by its address or name',
      '--side <side>': 'those whose taker did BUY or SELL',
      '--since <time>': 'from this time on: unix seconds, or a time',
      '--until <time>': 'up to before this time',
      '--limit <number>': 'so many of them at most, the oldest',
    },
    run: from(trades, 'exportTrades'),
  },
  'venue export': {
    does: 'writes people.csv, markets.csv and trades.csv into DIR, also while a node runs',
    node: 'shared',
    args: ['DIR'],
    options: { '--format <name>': 'csv or parquet (csv)' },
    run: from(venueExport, 'exportVenue'),
  },
  record: {
    does: 'records catalog, books and stream of a source until it is interrupted',
    node: 'any',
    args: ['URL', 'FILE'],
    options: {
      '--markets <choice>': 'ids, slugs, condition ids, tag:SLUG, top:NUMBER by volume (top:20)',
      '--catalog <url>': 'where its catalog is, unless at URL',
      '--stream <url>': 'its market stream, unless it is /ws/market of URL',
    },
    run: from(recordVenue, 'record'),
  },
  backtest: {
    does: 'runs strategies over a recording, without a node; prints their results',
    node: 'any',
    args: ['RECORDING', '[STRATEGY...]'],
    options: {
      '--cash <amount>': 'collateral at the beginning (1000)',
      '--latency <ms>':
        'how long an order or a cancel travels (0); or uniform:LEAST,MOST, exponential:LEAST,MEAN_ABOVE, lognormal:MEDIAN,SIGMA',
      '--feed-latency <ms>': 'how long everything travels that a strategy sees (0), likewise',
      '--latency-file <file>': 'measured latencies: CSV with the columns time, feed, order',
      '--seed <number>': 'from which drawn latencies follow (1)',
      '--taker-delay <ms>':
        'how long an order waits that would match, in place of the taker delays of the recording',
      '--fee <bps>':
        'base fee of takers, in basis points, in place of the fee schedules of the recording',
      '--impact <rule>': 'what was taken comes back: keep or restore (keep)',
      '--queue <rule>':
        'what moves a resting order forward: pessimistic, proportional, or power:2 to power:5 (pessimistic)',
      '--compare <setting>': 'runs each strategy with every queue, impact or latency',
      '--from <time>': 'begins here: unix seconds, or a time such as 2026-11-22T12:00:00Z',
      '--to <time>': 'ends here',
      '--html <file>': 'writes a page of all runs that needs nothing else',
      '--csv <directory>':
        'writes fills, equity, days and markets of each run, or the table of a sweep',
      '--parquet <directory>': 'writes the tables of runs as Parquet',
      '--json': 'a line of JSON each',
      '--command <command>':
        'a strategy that is a program, such as "python3 strategy.py": JSON lines on its input and output',
      '--set <assignments...>': 'parameters of the strategy, such as spread=0.03',
      '--sweep <values>':
        'runs all combinations of values, such as spread=0.01..0.05:0.01,size=10,50; the best one is first',
      '--recording <files...>': 'a sweep: more recordings for each combination',
      '--rank <figure>': 'a sweep: the figure that orders it (profit)',
      '--threads <number>': 'a sweep: runs at a time (one for each processor)',
      '--out <directory>':
        'a sweep: retains its results there; the next start runs only what is missing',
      '--walk-forward <times>':
        'a sweep: TRAIN/TEST such as 6h/1h: the best of each train span runs over the test span after it',
      '--check-lookahead [cuts]':
        'compares runs over the recording cut at some times: a number of them, 20/7 with the seed 7, or times (10)',
    },
    run: from(backtest, 'runBacktest'),
  },
  'record info': {
    does: 'describes a recording: markets, messages, times, gaps',
    node: 'any',
    args: ['FILE'],
    options: { '--json': 'the answer as JSON' },
    run: from(record, 'info'),
  },
  'record schema': {
    does: 'prints the JSON Schema of a message of a recording in the public form, with examples',
    node: 'any',
    run: from(record, 'schema'),
  },
  'record import': {
    does: 'makes a recording of files in the public form, or with books and trades as CSV, Parquet or npz',
    node: 'any',
    args: ['FILE...'],
    options: {
      '-o, --out <file>': 'the recording; it must not be there',
      '--mapping <file>': 'JSON that says which columns of CSV or Parquet are what',
    },
    run: from(record, 'importing'),
  },
  'record convert': {
    does: 'writes a recording in another form; the end of OUT says which: .rec, .parquet, .npz, .jsonl, .csv',
    node: 'any',
    args: ['IN', 'OUT'],
    options: {
      '--token <id>':
        'of npz: this token alone; without it OUT is a directory with a file for each',
      '--mapping <file>': 'JSON that says which columns of CSV or Parquet are what',
    },
    run: from(record, 'converting'),
  },
  replay: {
    does: 'rebuilds the state after a batch from snapshot and log; prints its hash, and books',
    node: 'shared',
    args: ['[SEQUENCE]'],
    options: {
      '--books': 'every level of every book, a line each',
      '--token <id>': 'the book of one token',
      '--diff <sequence>': 'compares it with the state after another batch: levels that differ',
    },
    run: from(replay, 'replayTo'),
  },
  verify: {
    does: 'compares log, snapshots and LMDB; writes nothing',
    node: 'stopped',
    directory: 'read',
    run: from(files, 'verifyAll'),
  },
  backup: {
    does: 'copies DATA_DIR into a new directory, with which a node can begin',
    node: 'shared',
    args: ['DIRECTORY'],
    options: {
      '--no-derived': 'without what follows from log and snapshots',
      '--no-key': 'without node.key, which is every credential',
    },
    run: from(files, 'backup'),
  },
  restore: {
    does: 'puts a backup into an empty DATA_DIR, and checks every file of it',
    node: 'stopped',
    directory: 'made',
    args: ['DIRECTORY'],
    run: from(files, 'restoreFrom'),
  },
  'log cut': {
    does: 'gives up a batch and all after it, where the log is damaged and there is no copy of it',
    node: 'stopped',
    args: ['SEQUENCE'],
    options: { '--force': 'also where the log is not damaged at this batch' },
    run: from(files, 'cutting'),
  },
  'clock accept': {
    does: 'accepts the new time of a clock that jumped',
    node: 'remote',
    options: {
      '--url <url>': 'the admin listener (http://ADMIN_HOST:ADMIN_PORT of the environment)',
    },
    run: from(clock, 'accept'),
  },
  connect: {
    does: 'prints settings with which typescript, python or ccxt clients find the node',
    node: 'remote',
    args: ['CLIENT'],
    options: { '--json': 'the answer as JSON', ...NODE_OPTION },
    run: from(connect, 'connect'),
  },
  mcp: {
    does: 'serves tools for an agent over standard input and output (Model Context Protocol)',
    node: 'remote',
    options: {
      '--agent-of <wallet>': 'the wallet whose agent the key is, which pays and is read',
      '--read-only': 'no tools that place or cancel, also with a key',
      '--wallet-file <file>':
        'file with the private key that signs, instead of WALLET_FILE or PRIVATE_KEY; without a key it only reads',
      ...NODE_OPTION,
    },
    run: from(mcp, 'mcp'),
  },
  doctor: {
    does: 'looks at versions, native parts, disk, clock, limits and permissions',
    node: 'any',
    run: from(doctor, 'doctor'),
  },
};

function from<Name extends string>(
  load: () => Promise<Readonly<Record<Name, Run>>>,
  name: Name,
): () => Promise<Run> {
  return async () => (await load())[name];
}

export const GROUPS: Readonly<Record<string, string>> = {
  catalog: 'what can be traded: from a file, to a file, from another node',
  keys: 'API keys',
  orders: 'open orders of a wallet',
  wallet: 'which there are, what they are called, who may not trade',
  venue: 'whether orders are taken, and its data as CSV',
  season: 'its end, with the balances of all set back',
  limits: 'rate limits',
  fault: 'failures on demand',
  ledger: 'cash and shares of wallets',
  invite: 'codes with which people join',
  liquidity: 'what the house quotes markets with',
  event: 'what markets are about; EVENT is its number or slug',
  market:
    'markets that an operator makes, halts and resolves; MARKET is its number, slug or condition id',
  trades: 'fills',
  record: 'recordings of sources',
  cluster: 'nodes that share one log',
  log: 'the log of batches',
  clock: 'the time of a node that runs',
};

export const NODE_TEXTS: Readonly<Record<CommandRow['node'], string>> = {
  stopped: 'while no node runs on DATA_DIR',
  shared: 'also while a node runs on DATA_DIR',
  remote: 'against a running node, over HTTP',
  any: 'whether a node runs or not',
  either: 'against a running node through its admin listener, else on the stopped DATA_DIR',
  itself: 'alone on DATA_DIR',
};
