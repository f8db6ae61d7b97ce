/**
 * AsyncAPI document (3.0) of the streams, made only from their table of messages. The node is the
 * application: it receives subscriptions of clients and sends events.
 *
 * Thread: any; pure.
 */
import type { TSchema } from '../common/schema.ts';
import { type Json, Schemas } from './json-schema.ts';

interface DocumentedStream {
  readonly does: string;
  /** Message sent by clients. */
  readonly message: TSchema;
  /** Requests sent by clients, by name. */
  readonly requests: Readonly<Record<string, { readonly does: string; readonly schema: TSchema }>>;
  readonly events: Readonly<Record<string, { readonly sent: string; readonly schema: TSchema }>>;
}

interface AsyncApiParts {
  /** Keyed by path. */
  readonly streams: Readonly<Record<string, DocumentedStream>>;
  /** Bounds for which a connection is closed with 1008. */
  readonly bounds: readonly string[];
  readonly version: string;
  /** Address of the node, `host:port`. */
  readonly host: string;
}

const DESCRIPTION = `WebSockets of JSON texts, one event a frame; the text PING is answered PONG. Events of one
\`stream_id\` have a \`sequence\` that compares as text; a gap is a \`previous\` greater than the last one. The routes are described by \`GET /openapi.json\`.`;

export function asyncApiDocument({ bounds, host, streams, version }: AsyncApiParts): Json {
  const schemas = new Schemas(new Map());
  const channels: Record<string, Json> = {};
  const operations: Record<string, Json> = {};
  for (const [path, stream] of Object.entries(streams)) {
    const name = path.split('/').at(-1)!;
    const channel = { $ref: `#/channels/${name}` };
    const messages = Object.keys(stream.events);
    channels[name] = channelOf(path, stream, schemas);
    operations[`${name}Subscribe`] = {
      action: 'receive',
      channel,
      summary: 'what clients subscribe with',
      messages: [messageOf(name, 'subscribe')],
    };
    const requests = Object.keys(stream.requests);
    if (requests.length > 0) {
      operations[`${name}Requests`] = {
        action: 'receive',
        channel,
        summary: 'requests, each answered by one message',
        messages: requests.map((request) => messageOf(name, requestName(request))),
        reply: { channel, messages: [messageOf(name, 'answer')] },
      };
    }
    operations[`${name}Events`] = {
      action: 'send',
      channel,
      summary: stream.does,
      messages: messages.map((event) => messageOf(name, event)),
    };
  }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'prediction-market-node: streams',
      version,
      description: `${DESCRIPTION} A connection is closed with 1008 for ${bounds.join(', ')}.`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { node: { host, protocol: 'ws', description: 'the node that served this' } },
    channels,
    operations,
  };
}

function messageOf(channel: string, message: string): Json {
  return { $ref: `#/channels/${channel}/messages/${message}` };
}

/** Events and requests may have equal names. */
function requestName(request: string): string {
  return `${request}Request`;
}

function channelOf(path: string, stream: DocumentedStream, schemas: Schemas) {
  const { does, events, message, requests } = stream;
  const sent = Object.entries(events).map(([name, event]) => [
    name,
    { name, summary: event.sent, payload: schemas.of(event.schema) },
  ]);
  const asked = Object.entries(requests).map(([request, row]) => {
    const name = requestName(request);
    return [name, { name, summary: row.does, payload: schemas.of(row.schema) }];
  });
  const subscribe = { name: 'subscribe', payload: schemas.of(message) };
  return {
    address: path,
    description: does,
    messages: { subscribe, ...Object.fromEntries(asked), ...Object.fromEntries(sent) },
  };
}
