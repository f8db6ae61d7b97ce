/**
 * JSON Schema (2020-12) of a message of the public form, with examples. Everything that it accepts can be read
 * (source-message.ts). It refuses a little more than the reader, so a matching file suits any reader of such
 * messages.
 *
 * Pure; any thread.
 */

type Json = Readonly<Record<string, unknown>>;

const PRICE: Json = {
  type: 'string',
  // From 0.0001 to 0.9999.
  pattern: '^0*\\.(?=0{0,3}[1-9])(?!9999\\d*[1-9])\\d+$',
  description: 'a decimal from 0.0001 to 0.9999',
};
const SIZE: Json = {
  type: 'string',
  pattern: '^(\\d{1,9}(\\.\\d+)?|\\.\\d+)$',
  description: 'shares; six digits after the point count',
};
const TIMESTAMP: Json = {
  description: 'unix milliseconds, in the years 1970 to 2096',
  oneOf: [
    { type: 'string', pattern: '^(\\d{1,12}|[1-3]\\d{12})$' },
    { type: 'integer', minimum: 0, maximum: 3_999_999_999_999 },
  ],
};
const SIDE: Json = { enum: ['BUY', 'SELL'] };
const TOKEN: Json = { type: 'string', pattern: '^\\d{1,78}$', description: 'token id' };
const NAME: Json = { type: 'string', minLength: 1, maxLength: 200 };
const OUTCOME: Json = { ...NAME, description: 'name of the outcome of the token' };
const LEVELS: Json = { type: 'array', items: { $ref: '#/$defs/level' } };

const COMMON: Json = {
  market: { ...NAME, description: 'condition id, or any name' },
  timestamp: TIMESTAMP,
};
const OF_TOKEN: Json = { ...COMMON, asset_id: TOKEN, outcome: OUTCOME };

function messageOf(type: string, description: string, properties: Json, optional: string[] = []) {
  const all = { event_type: { const: type }, ...properties };
  const required = Object.keys(all).filter(
    (name) => name !== 'outcome' && !optional.includes(name),
  );
  return { type: 'object', description, properties: all, required };
}

const MESSAGES: Readonly<Record<string, Json>> = {
  book: messageOf('book', 'all levels of a token, in any order', {
    ...OF_TOKEN,
    bids: LEVELS,
    asks: LEVELS,
  }),
  price_change: messageOf('price_change', 'levels of one or both tokens have other sizes', {
    ...COMMON,
    price_changes: { type: 'array', items: { $ref: '#/$defs/change' }, minItems: 1 },
  }),
  price_change_of_a_token: messageOf('price_change', 'the same in an older form, of one token', {
    ...OF_TOKEN,
    changes: { type: 'array', items: { $ref: '#/$defs/sided_level' } },
  }),
  last_trade_price: messageOf('last_trade_price', 'a trade; `side` is that of its taker', {
    ...OF_TOKEN,
    price: PRICE,
    size: SIZE,
    side: SIDE,
  }),
  tick_size_change: messageOf(
    'tick_size_change',
    'the market has another tick from now on',
    { ...OF_TOKEN, old_tick_size: PRICE, new_tick_size: PRICE },
    ['old_tick_size'],
  ),
  market_resolved: messageOf(
    'market_resolved',
    'the market pays: by weights of its tokens, or all to one of them',
    {
      ...COMMON,
      assets_ids: { type: 'array', items: TOKEN, minItems: 2, maxItems: 2 },
      winning_asset_id: TOKEN,
      payouts: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 2, maxItems: 2 },
      is_void: { type: 'boolean' },
    },
    ['winning_asset_id', 'payouts', 'is_void'],
  ),
};

const LEVEL = { price: PRICE, size: SIZE };

const EXAMPLES: readonly Json[] = exampleMessages();

export function messageSchema(): Json {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Message of a recording in the public form',
    description:
      'One message a line. Further members, and messages with another event_type, are allowed and not read.',
    oneOf: Object.keys(MESSAGES).map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs: {
      level: { type: 'object', properties: LEVEL, required: ['price', 'size'] },
      sided_level: {
        type: 'object',
        properties: { ...LEVEL, side: SIDE },
        required: ['price', 'size', 'side'],
      },
      change: {
        type: 'object',
        properties: { asset_id: TOKEN, outcome: OUTCOME, ...LEVEL, side: SIDE },
        required: ['asset_id', 'price', 'size', 'side'],
      },
      ...MESSAGES,
    },
    examples: EXAMPLES,
  };
}

function exampleMessages(): Json[] {
  const started = Date.UTC(2026, 0, 5, 12);
  const [yes, no] = ['101', '102'];
  const level = (price: string, size: string) => ({ price, size });
  const message = (event_type: string, seconds: number, members: Json): Json => ({
    event_type,
    market: 'rain-tomorrow',
    timestamp: String(started + seconds * 1_000),
    ...members,
  });
  const bids = [level('0.39', '250'), level('0.40', '120')];
  const asks = [level('0.44', '300'), level('0.43', '80')];
  return [
    message('book', 0, { asset_id: yes, outcome: 'Yes', bids, asks }),
    message('book', 0, {
      asset_id: no,
      outcome: 'No',
      bids: [level('0.56', '300'), level('0.57', '80')],
      asks: [level('0.61', '250'), level('0.60', '120')],
    }),
    message('price_change', 5, {
      price_changes: [
        { asset_id: yes, ...level('0.41', '60'), side: 'BUY' },
        { asset_id: no, ...level('0.59', '60'), side: 'SELL' },
      ],
    }),
    message('last_trade_price', 12, { asset_id: yes, ...level('0.41', '25'), side: 'SELL' }),
    message('price_change', 12, {
      asset_id: yes,
      changes: [{ ...level('0.41', '35'), side: 'BUY' }],
    }),
    message('last_trade_price', 40, { asset_id: no, ...level('0.57', '80'), side: 'SELL' }),
    message('tick_size_change', 60, {
      asset_id: yes,
      old_tick_size: '0.01',
      new_tick_size: '0.001',
    }),
    message('book', 61, { asset_id: yes, bids: [level('0.955', '90')], asks: [] }),
    message('market_resolved', 3_600, { assets_ids: [yes, no], winning_asset_id: yes }),
  ];
}
