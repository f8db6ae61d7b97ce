/**
 * What notes have led to by the end of the log: the rows of keys/, then the notes of the batches behind their
 * position. Where notes between the two are missing nothing is guessed: a revoked key could come back.
 *
 * Thread: the I/O thread before anything writes, or a command-line tool.
 */
import { decodeBatch } from '../log/batch-record.ts';
import { type Log, LogDamage } from '../log/log.ts';
import type { KeptNotes } from './kept-notes.ts';
import { ADVICE } from './key-rows.ts';
import { type Note, notesOf } from './notes.ts';
import type { NotePosition } from './other-rows.ts';

export type NotedLog = Pick<Log, 'digest' | 'first' | 'last' | 'read'>;

/** Whether a note of the log is wanted. */
type IsMeant = (note: Note) => boolean;

/** Shows every note that holds to `take`, in an order in which the later one about a thing is right. */
export function readNotes(
  kept: KeptNotes,
  log: NotedLog,
  take: (note: Note) => void,
  isMeant?: IsMeant,
): void {
  for (const note of kept.notes()) take(note);
  for (const note of notesBehind(kept, log, isMeant)) take(note);
}

/** Has the rows reach to the end of the log. Returns what is to be said of it. */
export function bringUp(kept: KeptNotes, log: NotedLog, isMeant?: IsMeant): string | undefined {
  const position = kept.position();
  const isOlder = kept.isOlder();
  const { digest, first, last } = log;
  if (position?.sequence === last && position.digest === digest) return undefined;
  const notes = [...notesBehind(kept, log, isMeant)];
  kept.apply(notes, { sequence: last, digest });
  if (position !== undefined || last === 0) return undefined;
  if (isOlder) return `keys/ of an older version is taken over at batch ${last}`;
  const made = `keys/ is new: made again from batches ${first} to ${last}`;
  if (first > 1) return `${made}; what is older is gone`;
  // A new directory has none either.
  return notes.length === 0 ? undefined : made;
}

function* notesBehind(
  kept: KeptNotes,
  log: NotedLog,
  isMeant: IsMeant = () => true,
): Generator<Note> {
  const position = kept.position();
  // The first start of this version puts a position before it writes a note.
  if (kept.isOlder()) return;
  const from = position === undefined ? Math.max(1, log.first) : position.sequence + 1;
  refuseOther(position, log);
  if (from > log.last) return;
  const reader = log.read(from);
  try {
    for (let entry = reader.next(log.last); entry !== undefined; entry = reader.next(log.last)) {
      const { before, payload, sequence } = entry;
      if (sequence === from && position !== undefined && before !== position.digest) {
        throw otherLog(position);
      }
      const batch = decodeBatch(payload);
      if (typeof batch === 'string') throw new LogDamage(`batch ${sequence}: ${batch}`);
      for (const note of notesOf(batch.i32)) if (isMeant(note)) yield note;
    }
  } finally {
    reader.close();
  }
}

/** Throws where the rows are of another log, or notes between them and the log are missing. */
function refuseOther(position: NotePosition | undefined, { digest, first, last }: NotedLog): void {
  if (position === undefined) return;
  const { sequence } = position;
  if (sequence > last) {
    throw new LogDamage(`it ends with batch ${last}, but keys/ holds batch ${sequence}`);
  }
  if (first > sequence + 1) {
    const what = `keys/ ends with batch ${sequence}, and the log begins with batch ${first}`;
    throw new Error(`${what}: what was revoked between them is not known; ${ADVICE}`);
  }
  if (sequence === last && position.digest !== digest) throw otherLog(position);
}

function otherLog({ sequence }: NotePosition): Error {
  return new Error(`keys/ holds batch ${sequence} of another log; ${ADVICE}`);
}
