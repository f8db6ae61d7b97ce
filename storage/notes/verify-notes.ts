/**
 * Whether keys/ is what the notes of the log have led to: every row by its checksum, and what notes of the log are
 * about by the last of them up to the position.
 *
 * Thread: a command-line tool, while no node runs.
 */
import type { KeptNotes } from './kept-notes.ts';
import { isEnd, type Note, noteCommand, subjectOf } from './notes.ts';

export interface NotedBatch {
  readonly sequence: number;
  readonly note: Note;
}

interface SeenNotes {
  readonly last: number;
  /** Digests after each batch of the log. */
  readonly digests: ReadonlyMap<number, number>;
  readonly notes: readonly NotedBatch[];
}

/** What was found. Throws an Error that says what is wrong. @param seen undefined: the log cannot be read */
export function verifyNotes(kept: KeptNotes, seen: SeenNotes | undefined): string {
  const rows = new Map<string, Note>();
  let keys = 0;
  for (const note of kept.notes()) {
    if (note.about === 'key') keys += 1;
    rows.set(subjectOf(note), note);
  }
  const position = kept.position();
  if (position === undefined || seen === undefined) return `${keys} API keys`;
  const { digests, last, notes } = seen;
  const { digest, sequence } = position;
  if (sequence > last) throw new Error(`it holds batch ${sequence}, the log ends with ${last}`);
  const expected = digests.get(sequence);
  if (expected !== undefined && expected !== digest) {
    throw new Error(`its digest after batch ${sequence} is ${digest}, that of the log ${expected}`);
  }
  const newest = new Map<string, Note>();
  for (const { note, sequence: of } of notes) if (of <= sequence) newest.set(subjectOf(note), note);
  for (const [subject, note] of newest) {
    const row = rows.get(subject);
    const isSame = row === undefined ? isEnd(note) : bytesOf(row).equals(bytesOf(note));
    if (!isSame) throw new Error(`its row of ${subject} is another than the log leads to`);
  }
  return `${keys} API keys, up to batch ${sequence} of ${last}`;
}

function bytesOf(note: Note): Buffer {
  return Buffer.from(noteCommand(note).buffer);
}
