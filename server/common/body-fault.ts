/** The answer to a JSON body that does not have the shape of its schema: it names the member and its rule. */
import { errorBody } from './error-bodies.ts';
import type { Fault, TObject } from './schema.ts';

/** @param input its descriptions complete the sentence "`member` must be ..." */
export function bodyFault(input: TObject, { missing, path }: Fault): string {
  const [first] = path;
  if (first === undefined) return errorBody('invalid body', 'the body must be a JSON object');
  const name = path.join('.');
  const member = input.properties[first];
  if (member === undefined) {
    const known = Object.keys(input.properties).join(', ') || 'none';
    return errorBody(`unknown_field: ${name}`, `members of the body: ${known}`);
  }
  const rule = String(member.description ?? 'as the document says');
  const is = missing ? 'is missing; it ' : '';
  return errorBody(`invalid_field: ${name}`, `${name} ${is}must be ${rule}`);
}
