/**
 * LMDB environment DATA_DIR/keys: what the notes of the log have led to, and up to which batch. It is not made
 * again from the log alone, which is trimmed.
 *
 *   keys   keys (key-rows.ts)
 *   meta   bans, the pause, who is watched, names, the catalog in use, the position (other-rows.ts); a probe
 *
 * Rows and position change in one transaction. Each row is read as the note that leads to it.
 *
 * Thread: the I/O thread brings it up to the log before anything else (read-notes.ts), then the follower writes.
 */
import { join } from 'node:path';
import { makeDirectory } from '../files/make-directory.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  type RootDatabase,
  writeFailure,
} from '../kv/lmdb.ts';
import { decodeKeyRow, encodeKeyRow } from './key-rows.ts';
import { idBytes, type KeyRow, type Note } from './notes.ts';
import {
  decodePosition,
  encodePosition,
  type NotePosition,
  otherNote,
  otherRow,
  POSITION,
} from './other-rows.ts';

const PROBE = Buffer.from('page');
/** What an older version proved a write with. It wrote no position. */
const OLDER_PROBE = Buffer.from('probe');
const PAGE_BYTES = 4_096;

export class KeptNotes {
  private readonly keys: BinaryTable;
  private readonly meta: BinaryTable;
  private readonly root: RootDatabase<Buffer, string>;

  constructor(
    dataDir: string,
    options: { readonly durability: Durability; readonly readOnly: boolean },
  ) {
    const path = join(dataDir, 'keys');
    if (!options.readOnly) makeDirectory(path);
    this.root = openEnvironment({ path, ...options });
    this.keys = openTable(this.root, 'keys');
    this.meta = openTable(this.root, 'meta');
  }

  /** Undefined: nothing of the log is in it. Throws an Error that says that it is damaged. */
  position(): NotePosition | undefined {
    const value = this.meta.get(POSITION);
    return value === undefined ? undefined : decodePosition(value);
  }

  /** Whether an older version wrote all of it, so that none of it is in the log. */
  isOlder(): boolean {
    return this.position() === undefined && this.meta.get(OLDER_PROBE) !== undefined;
  }

  /** Whether nobody has written to it. */
  isNew(): boolean {
    return this.position() === undefined && !this.isOlder();
  }

  /** What there is, as notes. Throws an error that names a damaged row. */
  *notes(): Generator<Note> {
    for (const row of this.keyRows()) yield { about: 'key', row };
    for (const { key, value } of this.meta.getRange()) {
      const note = otherNote(key, value);
      if (note !== undefined) yield note;
    }
  }

  /** By id. Throws an error that names a damaged row. */
  *keyRows(): Generator<KeyRow> {
    this.root.resetReadTxn();
    for (const { key, value } of this.keys.getRange()) yield decodeKeyRow(key, value);
  }

  /** One transaction. @param position the batch up to which notes are in it then */
  apply(notes: readonly Note[], position: NotePosition): void {
    this.root.transactionSync(() => {
      for (const note of notes) this.put(note);
      this.meta.putSync(POSITION, encodePosition(position));
    });
  }

  /** Writes one page to disk, to prove that a write succeeds; on a full disk it rejects. */
  async prove(): Promise<void> {
    try {
      await this.root.batch(() => void this.meta.put(PROBE, Buffer.alloc(PAGE_BYTES, 1)));
    } catch (error) {
      throw new Error(`keys: a write failed: ${await writeFailure(error)}`);
    }
  }

  close(): Promise<void> {
    return this.root.close();
  }

  private put(note: Note): void {
    if (note.about === 'key') {
      const key = idBytes(note.row.id);
      this.keys.putSync(key, encodeKeyRow(key, note.row));
      return;
    }
    if (note.about === 'handover') return;
    const { key, value } = otherRow(note);
    if (value === undefined) this.meta.removeSync(key);
    else this.meta.putSync(key, value);
  }
}
