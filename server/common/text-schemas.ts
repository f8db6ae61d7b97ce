/**
 * Schemas of texts that operators give: their refusal names the member and its bound.
 * Rules: docs/protocol.md#texts
 */
import { isName, isProse } from '../../storage/texts/door.ts';
import { registerFormat, Type } from './schema.ts';

registerFormat('name', isName);
registerFormat('prose', isProse);

/** One line: a title, an outcome, a label, a reason, an id. @param what with its article */
export function nameSchema(maxLength: number, what = 'a text', minLength = 1) {
  const description = `${what} of at most ${maxLength} printable characters, with no blank at its ends`;
  return Type.String({ minLength, maxLength, format: 'name', description });
}

export function proseSchema(maxLength: number) {
  const description = `a text of at most ${maxLength} characters, without control characters`;
  return Type.String({ maxLength, format: 'prose', description });
}
