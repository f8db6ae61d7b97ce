/** The notes of a DATA_DIR: what is kept of them, and those of the log behind it. */
import { logDirectory } from '../../storage/log/file-log.ts';
import { SegmentReader } from '../../storage/log/reader.ts';
import { wholeEnd } from '../../storage/log/whole-end.ts';
import { KeptNotes } from '../../storage/notes/kept-notes.ts';
import type { Note } from '../../storage/notes/notes.ts';
import { readNotes } from '../../storage/notes/read-notes.ts';

/** Reads all notes of a directory, also while a node runs there. */
export async function storedNotes(dataDir: string): Promise<Note[]> {
  const notes: Note[] = [];
  const kept = new KeptNotes(dataDir, { durability: 'flushed', readOnly: true });
  try {
    const directory = logDirectory(dataDir);
    const end = wholeEnd(directory) ?? { digest: 0, first: 0, last: 0 };
    const read = (from: number) => new SegmentReader(directory, from);
    readNotes(kept, { ...end, read }, (note) => notes.push(note));
  } finally {
    await kept.close();
  }
  return notes;
}
