/** Answer to a JSON body of the wrong shape: it names the member and its rule. */
import { errorBody } from './error-bodies.ts';
import type { Fault, TObject } from './schema.ts';

/** @param input its descriptions complete the sentence "`member` must be ..." */
export function bodyFault(input: TObject, { missing, path }: Fault): string {
  const [first] = path;
  if (first === undefined) return errorBody('INVALID_BODY', 'the body must be a JSON object');
  const name = path.join('.');
  const member = input.properties[first];
  if (member === undefined) {
    const known = Object.keys(input.properties).join(', ') || 'none';
    return errorBody('UNKNOWN_FIELD', `members of the body: ${known}`, {
      text: `unknown_field: ${name}`,
    });
  }
  const rule = String(member.description ?? 'as the document says');
  const is = missing ? 'is missing; it ' : '';
  return errorBody('INVALID_FIELD', `${name} ${is}must be ${rule}`, {
    text: `invalid_field: ${name}`,
  });
}
