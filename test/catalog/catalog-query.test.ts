/** The query strings of the catalog routes: every parameter, alias, default, bound and refusal. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ANY,
  CatalogQuery,
  EVENT_PARAMETERS,
  MARKET_PARAMETERS,
  PAGED_PARAMETERS,
  type Parameters,
  parseQuery,
  SAMPLING_PARAMETERS,
  SEARCH_PARAMETERS,
  SINGLE_PARAMETERS,
} from '../../server/catalog/query.ts';
import { EVENT_COLUMNS, MARKET_COLUMNS } from '../../server/catalog/shape.ts';

/** What a query string sets: the members that differ from the defaults. */
function set(text: string, parameters: Parameters = MARKET_PARAMETERS): Record<string, unknown> {
  const query = parseQuery(text, parameters);
  assert(typeof query !== 'string', `${text}: ${query}`);
  const defaults = Object.entries(new CatalogQuery());
  const changed = defaults.filter(([name, value]) => query[name as keyof CatalogQuery] !== value);
  return Object.fromEntries(changed.map(([name]) => [name, query[name as keyof CatalogQuery]]));
}

function refused(text: string, parameters: Parameters = MARKET_PARAMETERS): string {
  const query = parseQuery(text, parameters);
  assert(typeof query === 'string', `${text} was accepted`);
  return query;
}

test('without parameters a list has a limit of 100, no offset, no filter, and descends', () => {
  for (const text of ['', '&', '&&', '=', '=1&', 'unknown=1', 'Limit=0', 'li%mit=x']) {
    const query = parseQuery(text, MARKET_PARAMETERS);
    assert.deepEqual(query, new CatalogQuery(), text);
  }
  const { limit, offset, ascending, active, closed, archived, tagId, eventId, order } =
    new CatalogQuery();
  assert.deepEqual([limit, offset, ascending, order], [100, 0, 0, '']);
  assert.deepEqual([active, closed, archived, tagId, eventId], [ANY, ANY, ANY, ANY, ANY]);
});

test('every parameter of a market list sets its own filter', () => {
  assert.deepEqual(set('limit=7'), { limit: 7 });
  assert.deepEqual(set('offset=7'), { offset: 7 });
  assert.deepEqual(set('active=true'), { active: 1 });
  assert.deepEqual(set('closed=false'), { closed: 0 });
  assert.deepEqual(set('archived=1'), { archived: 1 });
  assert.deepEqual(set('tag=a'), { tag: 'a' });
  assert.deepEqual(set('tag_slug=a'), { tag: 'a' });
  assert.deepEqual(set('tag_id=0'), { tagId: 0 });
  assert.deepEqual(set('event_id=12'), { eventId: 12 });
  assert.deepEqual(set('event_slug=a'), { eventSlug: 'a' });
  assert.deepEqual(set('eventSlug=a'), { eventSlug: 'a' });
  assert.deepEqual(set('conditionId=0xAB'), { conditionId: '0xab' });
  assert.deepEqual(set('condition_id=0xAB'), { conditionId: '0xab' });
  assert.deepEqual(set('slug=A-b'), { slug: 'A-b' });
  assert.deepEqual(set('order=endDate'), { order: 'endDate' });
  assert.deepEqual(set('ascending=1'), { ascending: 1 });
  assert.deepEqual(set('creator=HTTPS://Market.Example/x'), { creator: 'market.example' });
  assert.deepEqual(set('active=0&closed=1&slug=s&limit=500'), {
    active: 0,
    closed: 1,
    slug: 's',
    limit: 500,
  });
});

test('routes know their own parameters only', () => {
  assert.deepEqual(set('series_slug=a&tag_id=5&slug=b', EVENT_PARAMETERS), {
    seriesSlug: 'a',
    tagId: 5,
    slug: 'b',
  });
  const foreign = 'event_id=x&conditionId=%&q=%';
  assert.deepEqual(set(foreign, EVENT_PARAMETERS), {});
  assert.deepEqual(set(`${foreign}&tag_id=x&creator=a&limit=2`, PAGED_PARAMETERS), {
    creator: 'a',
    limit: 2,
  });
  assert.deepEqual(set('limit=0&offset=x&creator=a', SINGLE_PARAMETERS), { creator: 'a' });
  assert.deepEqual(set('series_slug=%'), {});
  assert.deepEqual(set('limit=x&next_cursor=MA==', SAMPLING_PARAMETERS), { cursor: 'MA==' });
});

test('a search has its own limit and defaults', () => {
  const defaults = { limit: 25 };
  assert.deepEqual(set('', SEARCH_PARAMETERS), defaults);
  assert.deepEqual(set('q=snow+in+%C3%85l+', SEARCH_PARAMETERS), { ...defaults, q: 'snow in Ål ' });
  assert.deepEqual(set('limit=7', SEARCH_PARAMETERS), defaults);
  assert.deepEqual(set('limit_per_type=100&page=3', SEARCH_PARAMETERS), { page: 3 });
  assert.deepEqual(set('search_tags=false', SEARCH_PARAMETERS), { ...defaults, searchTags: 0 });
  assert.deepEqual(set('search_profiles=true', SEARCH_PARAMETERS), {
    ...defaults,
    searchProfiles: 1,
  });
  assert.equal(
    refused('limit_per_type=501', SEARCH_PARAMETERS),
    'limit_per_type must be a whole number from 1 to 500',
  );
  assert.equal(
    refused('page=0', SEARCH_PARAMETERS),
    'page must be a whole number from 1 to 9007199254740991',
  );
  for (const name of ['search_tags', 'search_profiles']) {
    assert.equal(refused(`${name}=`, SEARCH_PARAMETERS), `${name} must be true, false, 1 or 0`);
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
      const values = Object.values(set(`${name}=${good}&${name}=000${good}`));
      assert(values.length === 0 || values[0] === good);
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
    [MARKET_COLUMNS, MARKET_PARAMETERS],
    [EVENT_COLUMNS, EVENT_PARAMETERS],
  ] as const) {
    for (const column of columns) {
      assert.deepEqual(set(`order=${column}`, parameters), { order: column });
    }
    const rule = `order must be one of ${columns.join(', ')}`;
    const bad = [
      'volumes',
      'EndDate',
      'endDate,id',
      'events',
      'constructor',
      '__proto__',
      'end date',
    ];
    for (const name of bad) assert.equal(refused(`order=${name}`, parameters), rule);
    assert.deepEqual(set('order=created_at&order=createdAt', parameters), { order: 'createdAt' });
  }
  assert.deepEqual(set('order=question_id'), { order: 'questionID' });
  assert.deepEqual(set('order=clob_token_ids'), { order: 'clobTokenIds' });
  assert.deepEqual(set('order=order_price_min_tick_size'), { order: 'orderPriceMinTickSize' });
  assert.equal(set('order=creationDate', EVENT_PARAMETERS).order, 'creationDate');
  refused('order=creationDate');
});

test('an empty text is no filter', () => {
  const texts = 'tag tag_slug event_slug eventSlug conditionId condition_id slug order creator';
  for (const name of texts.split(' ')) {
    assert.deepEqual(set(`${name}=`), {}, name);
    assert.deepEqual(set(name), {}, name);
  }
  assert.deepEqual(set('tag=&tag_slug=a&tag='), { tag: 'a' });
});

test('a creator that is no name at all is an unknown one, not none', () => {
  for (const text of ['%20', 'https://', '/', '...']) {
    const { creator } = set(`creator=${text}`);
    assert(typeof creator === 'string' && creator !== '', text);
  }
});

test('equal values of one parameter are one, also under its other name', () => {
  assert.deepEqual(set('tag=a&tag_slug=a&tag=%61'), { tag: 'a' });
  assert.deepEqual(set('active=true&active=1'), { active: 1 });
  assert.deepEqual(set('limit=100&limit=0100'), {});
  assert.deepEqual(set('conditionId=0xAB&condition_id=0xab'), { conditionId: '0xab' });
  assert.deepEqual(set('creator=A.example&creator=http://a.example/'), { creator: 'a.example' });
  assert.deepEqual(set('tag=a&tag_id=1'), { tag: 'a', tagId: 1 });
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
  assert.equal(refused('slug=a&slug=b'), twice('slug'));
  assert.equal(refused('tag_id=1&tag_id=2'), twice('tag_id'));
  assert.equal(refused('creator=a&creator=b'), twice('creator'));
  assert.equal(refused('order=id&order=slug'), twice('order'));
});

test('values and names are percent-encoded UTF-8, and + is a space', () => {
  assert.deepEqual(set('slug=a+b%20c%2Bd%26e%3Df'), { slug: 'a b c+d&e=f' });
  assert.deepEqual(set('slug=%E4%BC%8A=%E6%9C%97='), { slug: '伊=朗=' });
  assert.deepEqual(set('%73lug=x&tag%5fid=5'), { slug: 'x', tagId: 5 });
  assert.deepEqual(set('limit=%37'), { limit: 7 });
  for (const bad of ['%', '%zz', '%E4%BC', '%ff', 'a%2']) {
    for (const name of ['slug', 'tag_slug', 'limit', 'active', 'order', 'creator', 'conditionId']) {
      assert.equal(refused(`${name}=${bad}`), `${name} must be percent-encoded UTF-8`);
    }
    assert.deepEqual(set(`unknown=${bad}&${bad}=1`), {});
  }
});

test('the first fault in the query string is the one that is told', () => {
  assert.equal(refused('limit=0&offset=x').split(' ')[0], 'limit');
  assert.equal(refused('offset=x&limit=0').split(' ')[0], 'offset');
});
