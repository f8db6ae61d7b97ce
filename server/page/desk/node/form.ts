/** Fields of a form for an operation: kind of each control, its text, and the input that the texts make. */
import type { Field, Operation, Schema } from './operations.ts';

export type Texts = Readonly<Record<string, string>>;

/** `lines`: one value in each line; `json`: a value as JSON; `flag`: 'true' or ''. */
export type Kind = 'choice' | 'flag' | 'json' | 'lines' | 'number' | 'prose' | 'text' | 'time';

const TIME = '^\\d{4}-[01]';
const PROSE_MIN = 1_000;
/** Length of the id that tells a repeated request from a new one. */
const ID_BYTES = 12;

export function kindOf({ items, maxLength = 0, pattern = '', type, ...schema }: Schema): Kind {
  if (schema.enum !== undefined) return 'choice';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array') return items?.type === 'object' ? 'json' : 'lines';
  if (type !== 'string') return 'json';
  if (pattern.startsWith(TIME)) return 'time';
  return maxLength > PROSE_MIN ? 'prose' : 'text';
}

/** Returns true for the id of a request, which the form makes itself. */
export function isRequestId({ isRequired, name, schema }: Field): boolean {
  return (
    name === 'id' && !isRequired && schema.description?.endsWith('where it is absent') === true
  );
}

/** Id of a request: where its answer is lost, the same one is sent again, and is done once. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return `desk-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** `endDate` is `End date`. */
export function labelOf(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

/** Input of what is written; fields without a text are absent. Throws for JSON that is none. */
export function inputOf({ fields }: Operation, texts: Texts): Record<string, unknown> {
  const written = fields.filter(({ name }) => (texts[name] ?? '').trim() !== '');
  return Object.fromEntries(
    written.map(({ name, schema }) => [name, memberOf(schema, texts[name]!)]),
  );
}

function memberOf(schema: Schema, text: string): unknown {
  switch (kindOf(schema)) {
    case 'flag':
      return true;
    case 'number':
      return Number(text);
    case 'json':
      return JSON.parse(text);
    case 'time':
      return new Date(text).toISOString().replace(/\.\d+Z$/, 'Z');
    case 'lines': {
      const lines = text.split('\n').map((line) => line.trim());
      const values = lines.filter((line) => line !== '');
      return schema.items?.type === 'string' ? values : values.map(Number);
    }
    default:
      return text.trim();
  }
}

/** Text of a field for time: that of the reader's clock, without seconds. @param iso a date-time, or '' */
export function timeInput(iso: string): string {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) return '';
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
