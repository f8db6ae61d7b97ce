/**
 * Audit log: DATA_DIR/audit, files of JSON lines that are only appended. A change has a line before it begins and
 * one with its result, so a change without a result was interrupted. A file is named by its first entry; a full one
 * is followed by the next, and the oldest is removed.
 *
 * Thread: the I/O thread, which never waits for the disk here, or that of a command. One process at a time
 * writes: the one that has the lock of DATA_DIR.
 */
import { existsSync, readdirSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../files/make-directory.ts';
import { syncDirectory } from '../log/segments.ts';

interface AuditedChange {
  readonly actor: string;
  /** Absent in entries of older versions. */
  readonly role?: 'operator' | 'resolver';
  readonly route: string;
  readonly body: unknown;
}

export interface AuditEntry extends AuditedChange {
  readonly id: number;
  readonly time: string;
  /** Absent while the change is under way, or after an interruption. */
  readonly status?: number;
  readonly error?: string;
}

interface AuditBounds {
  readonly bytesOfFile: number;
  readonly filesMax: number;
}

/** 64 MiB in all, several hundred thousand changes. A file is parsed in a few milliseconds. */
const BOUNDS: AuditBounds = { bytesOfFile: 2 ** 20, filesMax: 64 };
export const AUDIT = 'audit';
const NAME = /^\d{12}\.jsonl$/;
const NAME_DIGITS = 12;

export class AuditLog {
  private readonly folder: string;
  private readonly bounds: AuditBounds;
  private file: FileHandle | undefined;
  private bytes = 0;
  /** True when a crash or a full disk may have cut the last line. */
  private mayBeCut = false;
  private nextId: number | undefined;
  /** Writes follow each other; a failed one does not stop the next. */
  private last: Promise<unknown> = Promise.resolve();

  /** Nothing in the directory is read or made before the first change. */
  constructor(dataDir: string, bounds = BOUNDS) {
    this.folder = folderOf(dataDir);
    this.bounds = bounds;
  }

  /** Resolves with the id of the entry once it is on disk. */
  begin(change: AuditedChange): Promise<number> {
    return this.inTurn(async () => {
      const id = this.nextId ?? (await this.findEnd());
      await this.append(id, { id, time: new Date().toISOString(), ...change });
      this.nextId = id + 1;
      return id;
    });
  }

  end(id: number, status: number, error?: string): Promise<void> {
    const line = { id, status, ...(error === undefined ? {} : { error }) };
    return this.inTurn(() => this.append(id, line));
  }

  async close(): Promise<void> {
    await this.last;
    await this.file?.close();
    this.file = undefined;
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async findEnd(): Promise<number> {
    const [newest] = await readAudit(this.folder, 1);
    return (newest?.id ?? 0) + 1;
  }

  private async append(id: number, line: object): Promise<void> {
    const text = Buffer.from(`${JSON.stringify(line)}\n`);
    if (this.file !== undefined && this.bytes + text.length > this.bounds.bytesOfFile) {
      await this.file.close();
      this.file = undefined;
    }
    this.file ??= await this.openFile(id, text.length);
    const bytes = this.mayBeCut ? Buffer.concat([Buffer.from('\n'), text]) : text;
    this.mayBeCut = true;
    await this.file.appendFile(bytes);
    await this.file.datasync();
    this.mayBeCut = false;
    this.bytes += bytes.length;
  }

  private async openFile(id: number, room: number): Promise<FileHandle> {
    makeDirectory(this.folder);
    const names = await namesIn(this.folder);
    const newest = names.at(-1);
    if (newest !== undefined) {
      const path = join(this.folder, newest);
      this.bytes = (await stat(path)).size;
      this.mayBeCut = true;
      if (this.bytes + room < this.bounds.bytesOfFile) return open(path, 'a');
    }
    const file = await open(join(this.folder, nameOf(id)), 'a', 0o600);
    this.bytes = 0;
    this.mayBeCut = false;
    await syncDirectory(this.folder);
    for (const name of names.slice(0, Math.max(0, names.length + 1 - this.bounds.filesMax))) {
      await rm(join(this.folder, name), { force: true });
    }
    return file;
  }
}

/** Entries of DATA_DIR, newest first. @param before id of an entry: only older ones */
export function auditEntries(
  dataDir: string,
  limit: number,
  before?: number,
): Promise<AuditEntry[]> {
  return readAudit(folderOf(dataDir), limit, before);
}

async function readAudit(folder: string, limit: number, before?: number): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  /** Results by id; they follow their entries, perhaps in the next file. */
  const results = new Map<number, object>();
  for (const name of (await namesIn(folder)).reverse()) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n').reverse();
    for (const line of lines) {
      const entry = parse(line);
      if (entry === undefined) continue;
      if (entry.route === undefined) results.set(entry.id, entry);
      else if (before === undefined || entry.id < before) {
        found.push({ ...entry, ...results.get(entry.id) });
        if (found.length === limit) return found;
      }
    }
  }
  return found;
}

function parse(line: string): AuditEntry | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as AuditEntry);
  } catch {
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => NAME.test(name)).sort();
}

function folderOf(dataDir: string): string {
  return join(dataDir, AUDIT);
}

export function auditFiles(dataDir: string): string[] {
  const folder = folderOf(dataDir);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => NAME.test(name)).map((name) => join(folder, name));
}

function nameOf(id: number): string {
  return `${String(id).padStart(NAME_DIGITS, '0')}.jsonl`;
}
