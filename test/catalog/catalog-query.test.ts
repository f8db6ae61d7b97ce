import assert from 'node:assert/strict';
import test from 'node:test';
import { PARAMETERS, type Parameters } from '../../server/catalog/parameters.ts';
import { CatalogQuery } from '../../server/catalog/query.ts';
import { columnsOf } from './naive-lists.ts';

function set(text: string, parameters: Parameters = PARAMETERS.markets): Record<string, unknown> {
  const ignored: string[] = [];
  const query = parameters.parse(text, [], ignored);
  assert(typeof query !== 'string', `${text}: ${query}`);
  const { flagMask, flagValues, keys, ranges, ...settings } = query;
  const defaults = Object.entries(new CatalogQuery());
  const changed = Object.entries(settings).filter(([name, value]) => {
    return !isSame(defaults.find(([known]) => known === name)?.[1], value);
  });
  const flags = ['active', 'closed', 'archived'].flatMap((name, bit) => {
    return (flagMask >> bit) & 1 ? [[name, (flagValues >> bit) & 1]] : [];
  });
  const byKey = keys.map(({ aim, values }) => {
    return [`${aim.excludes ? 'no ' : ''}${aim.of} ${aim.column}`, values];
  });
  const byRange = ranges.map(({ column, max, min }) => [column, [min, max]]);
  const unknown = ignored.length === 0 ? {} : { ignored };
  return Object.fromEntries([
    ...changed,
    ...flags,
    ...byKey,
    ...byRange,
    ...Object.entries(unknown),
  ]);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function refused(text: string, parameters: Parameters = PARAMETERS.markets): string {
  const refusal = parameters.parse(text);
  assert(typeof refusal === 'string', `${text} was accepted`);
  return (JSON.parse(refusal) as { detail: string }).detail;
}

test('without parameters a list has a limit of 100, no offset, no filter, and descends', () => {
  for (const text of ['', '&', '&&', '=', '=1&']) {
    assert.deepEqual(PARAMETERS.markets.parse(text), new CatalogQuery(), text);
  }
  const { limit, offset, ascending, order, keys, ranges } = new CatalogQuery();
  assert.deepEqual([limit, offset, ascending, order, keys, ranges], [100, 0, 0, [], [], []]);
});

test('every parameter of a market list sets its own filter', () => {
  assert.deepEqual(set('limit=7'), { limit: 7 });
  assert.deepEqual(set('offset=7'), { offset: 7 });
  assert.deepEqual(set('active=true'), { active: 1 });
  assert.deepEqual(set('closed=false'), { closed: 0 });
  assert.deepEqual(set('archived=1'), { archived: 1 });
  assert.deepEqual(set('tag=a'), { 'tags slug': ['a'] });
  assert.deepEqual(set('tag_slug=a'), { 'tags slug': ['a'] });
  assert.deepEqual(set('tag_id=0'), { 'tags id': [0] });
  assert.deepEqual(set('exclude_tag_id=3'), { 'no tags id': [3] });
  assert.deepEqual(set('event_id=12'), { 'events id': [12] });
  assert.deepEqual(set('event_slug=a'), { 'events slug': ['a'] });
  assert.deepEqual(set('eventSlug=a'), { 'events slug': ['a'] });
  assert.deepEqual(set('conditionId=0xAB'), { 'markets conditionId': ['\0' + '0xab'] });
  assert.deepEqual(set('slug=A-b'), { 'markets slug': ['A-b'] });
  assert.deepEqual(set('order=endDate'), { order: ['endDate'] });
  assert.deepEqual(set('order=end_date,volume_24hr,+id'), {
    order: ['endDate', 'volume24hr', 'id'],
  });
  assert.deepEqual(set('ascending=1'), { ascending: 1 });
  assert.deepEqual(set('creator=HTTPS://Market.Example/x'), { creator: 'market.example' });
  assert.deepEqual(set('active=0&closed=1&slug=s&limit=500'), {
    active: 0,
    closed: 1,
    'markets slug': ['s'],
    limit: 500,
  });
});

test('values of a parameter that may have several add up, however they are given', () => {
  assert.deepEqual(set('id=1,2&id=3&id[]=2&id%5B%5D=4'), { 'markets id': [1, 2, 3, 4] });
  assert.deepEqual(set('slug=a,b&slug[]=c'), { 'markets slug': ['a,b', 'c'] });
  assert.deepEqual(set('tag_id=1&tag_id=1&tag_id[]=2'), { 'tags id': [1, 2] });
  const many = Array.from({ length: 101 }, (_, id) => id).join();
  assert.equal(refused(`id=${many}`), 'id must be at most 100 values');
  assert.equal(refused(`id=${many.replaceAll(',', '&id=')}`), 'id must be at most 100 values');
  assert.equal(refused('id=1,x'), 'id must be a whole number from 0 to 999999999999999');
});

test('dates and numbers have bounds, and an absent bound is open', () => {
  const { MAX_VALUE } = Number;
  assert.deepEqual(set('volume_num_min=1.5&volume_num_max=1e3'), { volumeNum: [1.5, 1000] });
  assert.deepEqual(set('best_bid_max=-2'), { bestBid: [-MAX_VALUE, -2] });
  const day = Date.parse('2024-02-01') * 1000;
  for (const text of ['2024-02-01', '2024-02-01T00:00:00Z', '2024-02-01T02:00:00%2B02:00']) {
    assert.deepEqual(set(`end_date_min=${text}`), { endDate: [day, MAX_VALUE] });
  }
  for (const bad of ['', 'x', '1,5', '0x1', 'Infinity', '1e']) {
    assert.equal(refused(`volume_min=${bad}`), 'volume_min must be a number');
  }
  for (const bad of ['', 'today', '2024', '1700000000']) {
    const rule = 'start_date_max must be a date or a date-time of ISO 8601';
    assert.equal(refused(`start_date_max=${bad}`), rule);
  }
});

test('routes read their own parameters only, and name the others in a header', () => {
  assert.deepEqual(set('series_slug=a&tag_id=5&slug=b', PARAMETERS.events), {
    'series slug': ['a'],
    'tags id': [5],
    'events slug': ['b'],
  });
  const foreign = 'event_id=x&conditionId=%&q=%';
  const ignored = ['event_id', 'conditionId', 'q'];
  assert.deepEqual(set(foreign, PARAMETERS.events), { ignored });
  assert.deepEqual(set(`${foreign}&tag_id=x&creator=a&limit=2`, PARAMETERS.paged), {
    ignored: [...ignored, 'tag_id'],
    creator: 'a',
    limit: 2,
  });
  assert.deepEqual(set('limit=0&creator=a', PARAMETERS.single), {
    ignored: ['limit'],
    creator: 'a',
  });
  assert.deepEqual(set('limit=x&next_cursor=MA==', PARAMETERS.sampling), {
    ignored: ['limit'],
    cursor: 'MA==',
  });
});

test('a search has its own limit and defaults', () => {
  const defaults = { limit: 25 };
  assert.deepEqual(set('', PARAMETERS.search), defaults);
  assert.deepEqual(set('q=snow+in+%C3%85l+', PARAMETERS.search), { ...defaults, q: 'snow in Ål ' });
  assert.deepEqual(set('limit=7', PARAMETERS.search), { ...defaults, ignored: ['limit'] });
  assert.deepEqual(set('sort=volume_24hr&keep_closed_markets=0', PARAMETERS.search), {
    ...defaults,
    order: ['volume24hr'],
    keepClosed: 0,
  });
  for (const [status, flags] of [
    ['active', { active: 1, closed: 0 }],
    ['closed', { closed: 1 }],
    ['all', {}],
  ] as const) {
    assert.deepEqual(set(`events_status=${status}`, PARAMETERS.search), { ...defaults, ...flags });
  }
  assert.equal(
    refused('events_status=resolved', PARAMETERS.search),
    'events_status must be one of active, closed, all',
  );
  assert.deepEqual(set('limit_per_type=100&page=3', PARAMETERS.search), { page: 3 });
  assert.deepEqual(set('search_tags=false', PARAMETERS.search), { ...defaults, searchTags: 0 });
  assert.deepEqual(set('search_profiles=true', PARAMETERS.search), {
    ...defaults,
    searchProfiles: 1,
  });
  assert.equal(
    refused('limit_per_type=501', PARAMETERS.search),
    'limit_per_type must be a whole number from 1 to 500',
  );
  assert.equal(
    refused('page=0', PARAMETERS.search),
    'page must be a whole number from 1 to 9007199254740991',
  );
  for (const name of ['search_tags', 'search_profiles']) {
    assert.equal(refused(`${name}=`, PARAMETERS.search), `${name} must be true, false, 1 or 0`);
  }
});

test('numbers are whole and within their bounds', () => {
  const bounds = [
    ['limit', 1, 500],
    ['offset', 0, 9007199254740991],
    ['tag_id', 0, 999999999999999],
    ['event_id', 0, 999999999999999],
  ] as const;
  for (const [name, min, max] of bounds) {
    const rule = `${name} must be a whole number from ${min} to ${max}`;
    for (const bad of ['', '-1', '+1', '1.0', '1e1', '0x1', ' 1', '1 ', 'a', 'NaN', '1,2', '٣']) {
      assert.equal(refused(`${name}=${encodeURIComponent(bad)}`), rule, bad);
    }
    assert.equal(refused(name), rule);
    assert.equal(refused(`${name}=${min - 1}`), rule);
    assert.equal(refused(`${name}=${BigInt(max) + 1n}`), rule);
    assert.equal(refused(`${name}=${'9'.repeat(400)}`), rule);
    for (const good of [min, max]) {
      const values = Object.values(set(`${name}=${good}&${name}=000${good}`)).flat();
      assert(values.length === 0 || (values.length === 1 && values[0] === good));
    }
  }
});

test('booleans are true, false, 1 or 0', () => {
  for (const name of ['active', 'closed', 'archived', 'ascending']) {
    assert.deepEqual(set(`${name}=1`), set(`${name}=true`));
    assert.deepEqual(set(`${name}=0`), set(`${name}=false`));
    assert.notDeepEqual(set(`${name}=1`), set(`${name}=0`));
    for (const bad of ['', 'True', 'yes', '2', 'null', '01']) {
      assert.equal(refused(`${name}=${bad}`), `${name} must be true, false, 1 or 0`);
    }
  }
});

test('a column is named as objects show it or in snake case; a wrong one lists them all', () => {
  for (const [columns, parameters] of [
    [columnsOf('markets'), PARAMETERS.markets],
    [columnsOf('events'), PARAMETERS.events],
  ] as const) {
    for (const column of columns) {
      assert.deepEqual(set(`order=${column}`, parameters), { order: [column] });
    }
    const rule = `order must be up to 3 of ${columns.join(', ')}`;
    const bad = [
      'volumes',
      'EndDate',
      'endDate,nothing',
      'id,slug,active,closed',
      'events',
      'constructor',
      '__proto__',
      'end date',
    ];
    for (const name of bad) assert.equal(refused(`order=${name}`, parameters), rule);
    assert.deepEqual(set('order=created_at&order=createdAt', parameters), { order: ['createdAt'] });
  }
  assert.deepEqual(set('order=question_id'), { order: ['questionID'] });
  assert.deepEqual(set('order=clob_token_ids'), { order: ['clobTokenIds'] });
  assert.deepEqual(set('order=order_price_min_tick_size'), { order: ['orderPriceMinTickSize'] });
  assert.deepEqual(set('order=creationDate', PARAMETERS.events).order, ['creationDate']);
  refused('order=creationDate');
});

test('an empty text is no filter', () => {
  const texts = 'tag tag_slug event_slug eventSlug conditionId condition_id slug order creator';
  for (const name of texts.split(' ')) {
    assert.deepEqual(set(`${name}=`), {}, name);
    assert.deepEqual(set(name), {}, name);
  }
  assert.deepEqual(set('tag=&tag_slug=a&tag='), { 'tags slug': ['a'] });
});

test('an invalid creator is an unknown one, not an absent one', () => {
  for (const text of ['%20', 'https://', '/', '...']) {
    const { creator } = set(`creator=${text}`);
    assert(typeof creator === 'string' && creator !== '', text);
  }
});

test('equal values of one parameter are one, also under its other name', () => {
  assert.deepEqual(set('tag=a&tag_slug=a&tag=%61'), { 'tags slug': ['a'] });
  assert.deepEqual(set('active=true&active=1'), { active: 1 });
  assert.deepEqual(set('limit=100&limit=0100'), {});
  assert.deepEqual(set('conditionId=0xAB&condition_id=0xab'), set('conditionId=0xab'));
  assert.deepEqual(set('creator=A.example&creator=http://a.example/'), { creator: 'a.example' });
  assert.deepEqual(set('tag=a&tag_id=1'), { 'tags slug': ['a'], 'tags id': [1] });
});

test('different values of one parameter are refused, naming both spellings', () => {
  const both = (a: string, b: string) =>
    `${a} and ${b} are one parameter and have different values`;
  const twice = (name: string) => `${name} is given more than once, with different values`;
  assert.equal(refused('tag=a&tag_slug=b'), both('tag', 'tag_slug'));
  assert.equal(refused('tag_slug=a&x=1&tag=A'), both('tag_slug', 'tag'));
  assert.equal(refused('eventSlug=a&event_slug=b'), both('eventSlug', 'event_slug'));
  assert.equal(refused('condition_id=1&conditionId=2'), both('condition_id', 'conditionId'));
  assert.equal(refused('tag_slug=a&tag_slug=b&tag=b&tag=c'), both('tag_slug', 'tag'));
  // A default is no value: what is given first may equal it.
  for (const text of ['limit=100&limit=1', 'offset=0&offset=1', 'ascending=0&ascending=1']) {
    assert.equal(refused(text), twice(text.split('=')[0]!));
  }
  assert.equal(refused('active=true&active=false'), twice('active'));
  assert.equal(refused('event_id=1&event_id=2'), twice('event_id'));
  assert.equal(refused('volume_min=1&volume_min=2'), twice('volume_min'));
  assert.equal(refused('creator=a&creator=b'), twice('creator'));
  assert.equal(refused('order=id&order=slug'), twice('order'));
});

test('values and names are percent-encoded UTF-8, and + is a space', () => {
  assert.deepEqual(set('slug=a+b%20c%2Bd%26e%3Df'), { 'markets slug': ['a b c+d&e=f'] });
  assert.deepEqual(set('slug=%E4%BC%8A=%E6%9C%97='), { 'markets slug': ['伊=朗='] });
  assert.deepEqual(set('%73lug=x&tag%5fid=5'), { 'markets slug': ['x'], 'tags id': [5] });
  assert.deepEqual(set('limit=%37'), { limit: 7 });
  for (const bad of ['%', '%zz', '%E4%BC', '%ff', 'a%2']) {
    for (const name of ['slug', 'tag_slug', 'limit', 'active', 'order', 'creator', 'conditionId']) {
      assert.equal(refused(`${name}=${bad}`), `${name} must be percent-encoded UTF-8`);
    }
    assert.deepEqual(Object.keys(set(`unknown=${bad}&${bad}=1`)), ['ignored']);
  }
});

test('the first fault in the query string is the one that is reported', () => {
  assert.equal(refused('limit=0&offset=x').split(' ')[0], 'limit');
  assert.equal(refused('offset=x&limit=0').split(' ')[0], 'offset');
});
