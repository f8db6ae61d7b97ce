/**
 * Pulls from sources that die, hang, lie and change meanwhile. A failed pull never changes the
 * catalog.
 */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { smallDisk } from '../common/node-harness.ts';
import { catalogEtag, sourceFile } from './catalog-source.ts';
import { atFirst, isLookup, type Stage, stored, titles, titlesOf } from './catalog-sync-stage.ts';

const faults = new Map<string, (stage: Stage) => Promise<void>>();

function fault(name: string, run: (stage: Stage) => Promise<void>): void {
  faults.set(name, run);
}

fault(
  'a source that dies half way leaves the old catalog, and is caught up with later',
  async ({ source, store, sync, fails }) => {
    let lookups = 0;
    source.fault = (path, response) => {
      if (isLookup(path)) lookups++;
      if (lookups > 8) response.destroy();
      return lookups > 8;
    };
    await fails(/^GET \/events\/\d+: /);
    source.fault = () => false;
    assert.equal((await sync()).kind, 'replaced');
    assert.deepEqual(titles(store), titlesOf(source.file));
  },
);

fault('an answer that breaks off in the middle is no answer', async ({ source, fails }) => {
  source.fault = (path, response) => {
    if (path !== '/events/3') return false;
    response.writeHead(200, { 'Content-Length': '1000' }).write('{"id":"3","markets":[]}');
    setTimeout(() => response.destroy(), 5);
    return true;
  };
  await fails(/^GET \/events\/3: /);
});

fault('a source that hangs before or inside an answer fails', async ({ source, fails }) => {
  source.fault = isLookup;
  await fails(/no answer within 30 ms/, { requestMs: 30 });
  source.fault = (path, response) => {
    if (isLookup(path)) response.write('{"id":');
    return isLookup(path);
  };
  await fails(/no answer within 30 ms/, { requestMs: 30 });
});

fault(
  'a source that trickles on fails by the time of the whole pull',
  async ({ source, fails }) => {
    source.fault = (path, response) => {
      if (isLookup(path)) response.writeHead(503).end();
      return isLookup(path);
    };
    await fails(/the pull took over 60 ms/, { pullMs: 60, tries: 1_000 });
  },
);

fault(
  'an answer that is too large fails, also when it is small as it travels',
  async ({ source, fails }) => {
    const large = JSON.stringify({ id: '3', markets: [], text: 'x'.repeat(200_000) });
    source.fault = (path, response) => {
      if (path === '/events/3') response.end(large);
      return path === '/events/3';
    };
    await fails(/^GET \/events\/3: an answer of over 100000 bytes/, { bodyBytes: 100_000 });
    source.fault = (path, response) => {
      if (path !== '/events/3') return false;
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(large));
      return true;
    };
    await fails(/^GET \/events\/3: an answer of over 100000 bytes/, { bodyBytes: 100_000 });
  },
);

fault('a catalog that is too large as a whole fails', async ({ source, fails }) => {
  source.file = sourceFile(200);
  await fails(/a catalog of over 100000 bytes/, { pullBytes: 100_000 });
});

fault(
  'requests with passing failures are repeated, those with lasting ones not for ever',
  async ({ source, store, sync, fails }) => {
    const broken = (response: ServerResponse) => response.writeHead(502).end('<html>');
    source.fault = atFirst(1_000, isLookup, broken);
    await fails(/^GET \/events\/\d+: status 502/);
    source.fault = atFirst(2, isLookup, broken);
    assert.equal((await sync()).kind, 'replaced');
    assert.deepEqual(titles(store), titlesOf(source.file));
  },
);

fault('a request that was refused is not repeated', async ({ source, fails }) => {
  source.fault = atFirst(1_000, isLookup, (response) => response.writeHead(403).end());
  source.requests.length = 0;
  await fails(/status 403/);
  assert(source.requests.filter(isLookup).length <= 8, 'one try in each lane');
});

fault('a pause that the source requests delays all requests', async ({ source, sync }) => {
  let refused = 0;
  let quietUntil = 0;
  source.fault = (path, response) => {
    if (!isLookup(path)) return false;
    if (quietUntil === 0) quietUntil = performance.now() + 900;
    if (performance.now() > quietUntil) return false;
    refused++;
    response.writeHead(429, { 'Retry-After': '1' }).end('{"error":"Too Many Requests"}');
    return true;
  };
  assert.equal((await sync()).kind, 'replaced');
  assert(1 <= refused && refused <= 8, `${refused} requests did not hear of the pause`);
});

fault('a pause of hours fails the pull', async ({ source, fails }) => {
  const later = new Date(Date.now() + 7_200_000).toUTCString();
  for (const pause of ['7200', later]) {
    source.fault = atFirst(1_000, isLookup, (response) =>
      response.writeHead(429, { 'Retry-After': pause }).end(),
    );
    await fails(/it asks for a pause of \d+/);
  }
});

fault('a catalog that changes at every look fails', async ({ source, fails }) => {
  let looks = 0;
  source.fault = () => {
    source.etag = catalogEtag((looks++ % 16).toString(16));
    return false;
  };
  await fails(/its catalog changed while it was read, 4 times/);
});

fault('garbage in any place fails', async ({ source, fails }) => {
  source.etag = catalogEtag('a');
  const bad: readonly [path: string, body: string | Buffer, reason: RegExp][] = [
    ['/events?', '<html>busy</html>', /not JSON/],
    ['/events?', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), /not JSON/],
    ['/events?', '', /not JSON/],
    ['/events?', '{"data":[]}', /not a list of objects/],
    ['/events?', '["a"]', /not a list of objects/],
    ['/tags?', 'null', /GET \/tags: not a list of objects/],
    ['/series?', '[[]]', /GET \/series: not a list of objects/],
    ['/events/4', '[]', /not that event/],
    ['/events/4', '{"id":"5","markets":[]}', /not that event/],
    ['/sampling-markets?', '{"data":[]}', /not a page of sampling markets/],
    ['/sampling-markets?', '{"data":[],"next_cursor":"MA=="}', /MA%3D%3D repeats itself/],
    ['/events/4', '{"id":"4"}', /not that event with its markets/],
  ];
  for (const [place, body, reason] of bad) {
    source.fault = (path, response) => {
      if (path.startsWith(place)) response.end(body);
      return path.startsWith(place);
    };
    await fails(reason);
  }
});

fault('two markets that claim one token fail the pull', async ({ source, fails }) => {
  const events = [1, 2].map((id) => ({
    id: String(id),
    markets: [{ id: String(id), clobTokenIds: '["77","78"]' }],
  }));
  source.file = { ...source.file, events };
  await fails(/both claim token id/);
});

fault('a source that has lost all its events is not believed', async ({ source, fails }) => {
  source.file = { ...source.file, events: [] };
  await fails(/no events at all/);
});

fault(
  'a gateway that answers in place of a source is not believed, whatever it says',
  async ({ source, fails }) => {
    for (const body of ['<html>404 Not Found</html>', '{"message":"no route"}', '']) {
      let lookups = 0;
      source.fault = (path, response) => {
        const isAway = isLookup(path) && ++lookups > 5;
        if (isAway) response.writeHead(404).end(body);
        return isAway;
      };
      await fails(/^GET \/events\/\d+: (?:status 404|an answer that is not JSON)/);
    }
  },
);

fault(
  'lists that never end, repeat themselves or redirect in a circle fail',
  async ({ source, fails }) => {
    let id = 0;
    source.fault = (path, response) => {
      if (path.startsWith('/events?')) response.end(JSON.stringify([{ id: String(id++) }]));
      return path.startsWith('/events?');
    };
    await fails(/^GET \/events goes on after 5 pages/, { pages: 5 });
    const page = Array.from({ length: 500 }, (_, index) => ({ id: String(index) }));
    source.fault = (path, response) => {
      if (path.startsWith('/tags?')) response.end(JSON.stringify(page));
      return path.startsWith('/tags?');
    };
    await fails(/^GET \/tags repeats itself/);
    const bounded = sourceFile(25);
    source.file = bounded;
    source.fault = (path, response) => {
      const offset = Math.min(10, Number(/^\/events\?.*offset=(\d+)/.exec(path)?.[1]));
      if (offset >= 0) response.end(JSON.stringify(bounded.events.slice(offset, offset + 10)));
      return offset >= 0;
    };
    await fails(/^GET \/events repeats itself/);
    source.fault = (path, response) => {
      response.writeHead(302, { Location: path }).end();
      return true;
    };
    await fails(/redirect/);
  },
);

test('a pull from a source with faults leaves the catalog as it was', async (t) => {
  const stage = await stored(t);
  for (const [name, run] of faults) {
    const file = sourceFile(12, name);
    Object.assign(stage.source, { file, fault: () => false, etag: undefined });
    await t.test(name, () => run(stage));
  }
});

test('a pull from a missing source fails', async (t) => {
  const { source, fails } = await stored(t);
  source.stop();
  await fails(/ECONNREFUSED/);
});

test('a disk that is full fails the pull, and the next one finds room again', async (t) => {
  const disk = smallDisk('6m');
  if (disk === undefined) return t.skip('mounting is not allowed');
  const { source, store, sync, fails } = await stored(t, disk);
  const large = sourceFile(20, 'large');
  const [first = {}, ...others] = large.events;
  const eventMetadata = { note: 'x'.repeat(8_000_000) };
  source.file = { ...large, events: [{ ...first, eventMetadata }, ...others] };
  await fails(/^cannot write: /);
  source.file = sourceFile(20, 'third');
  assert.equal((await sync()).kind, 'replaced');
  assert.deepEqual(titles(store), titlesOf(source.file));
});
