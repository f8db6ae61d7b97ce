/**
 * Puts a simulated disk in the place of node:fs, for `log` and `images` below a directory, in the thread
 * that calls it: the product's own code runs on it unchanged. Everything else goes to the real files.
 */
import fs, { constants, type PathLike } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { failed, type OpenFile, SimulatedDisk } from './simulated-disk.ts';

/** Above every descriptor of the system. */
const FIRST_DESCRIPTOR = 1 << 24;
const FLAGS: Readonly<Record<string, number>> = {
  r: constants.O_RDONLY,
  w: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
};

export class SimulatedFs {
  disk = new SimulatedDisk();
  readonly root: string;
  private readonly files = new Map<number, OpenFile>();
  private readonly isSimulated: RegExp;
  private next = FIRST_DESCRIPTOR;

  /** @param root names below `<root>/<anything>/log` and `images` are simulated, and are the same for each */
  constructor(root: string) {
    this.root = root;
    this.isSimulated = new RegExp(`^${root}/[^/]+/((?:log|images)(?:/.*)?)$`);
    this.patchPaths();
    this.patchDescriptors();
    this.patchWrite();
    this.patchPromises();
    syncBuiltinESMExports();
  }

  private nameOf(path: PathLike | number): string | undefined {
    return typeof path === 'string' ? this.isSimulated.exec(path)?.[1] : undefined;
  }

  private opened(name: string, flags: string | number): number {
    const bits = typeof flags === 'number' ? flags : FLAGS[flags]!;
    const isDirectory = !name.includes('/');
    const file = isDirectory
      ? { path: name, inode: undefined as never, syncs: false, position: 0 }
      : this.disk.open(name, bits);
    this.next += 1;
    this.files.set(this.next, file);
    return this.next;
  }

  private synced(file: OpenFile): void {
    if (file.path.includes('/')) this.disk.sync(file);
    else this.disk.syncNames(file.path);
  }

  /** Replaces a function of node:fs by one that is used where `simulated` answers. */
  private patch(
    holder: object,
    name: string,
    simulated: (original: (...args: never[]) => unknown, ...args: never[]) => unknown,
  ): void {
    const functions = holder as Record<string, (...args: never[]) => unknown>;
    const original = functions[name]!.bind(holder);
    functions[name] = (...args: never[]) => simulated(original, ...args);
  }

  private patchPaths(): void {
    this.patch(fs, 'openSync', (original, ...args: never[]) => {
      const [path, flags = 'r'] = args as unknown as [string, (string | number)?];
      const name = this.nameOf(path);
      return name === undefined ? original(...args) : this.opened(name, flags);
    });
    this.patch(fs, 'mkdirSync', (original, ...args: never[]) =>
      this.nameOf(args[0]!) === undefined ? original(...args) : undefined,
    );
    this.patch(fs, 'readdirSync', (original, ...args: never[]) => {
      const name = this.nameOf(args[0]!);
      return name === undefined ? original(...args) : this.disk.list(name);
    });
    this.patch(fs, 'existsSync', (original, ...args: never[]) => {
      const name = this.nameOf(args[0]!);
      return name === undefined ? original(...args) : this.disk.exists(name);
    });
    this.patch(fs, 'rmSync', (original, ...args: never[]) => {
      const name = this.nameOf(args[0]!);
      return name === undefined ? original(...args) : this.disk.remove(name);
    });
    this.patch(fs, 'renameSync', (original, ...args: never[]) => {
      const [from, to] = [this.nameOf(args[0]!), this.nameOf(args[1]!)];
      return from === undefined ? original(...args) : this.disk.move(from, to!);
    });
    this.patch(fs, 'readFileSync', (original, ...args: never[]) => {
      const name = this.nameOf(args[0]!);
      if (name === undefined) return original(...args);
      return Buffer.from(this.disk.open(name, constants.O_RDONLY).inode.content);
    });
  }

  private patchDescriptors(): void {
    const of = (descriptor: never): OpenFile | undefined => this.files.get(descriptor);
    this.patch(fs, 'closeSync', (original, ...args: never[]) =>
      this.files.delete(args[0]!) ? undefined : original(...args),
    );
    this.patch(fs, 'fstatSync', (original, ...args: never[]) => {
      const file = of(args[0]!);
      return file === undefined ? original(...args) : { size: file.inode.content.length };
    });
    this.patch(fs, 'fsyncSync', (original, ...args: never[]) => {
      const file = of(args[0]!);
      return file === undefined ? original(...args) : this.synced(file);
    });
    this.patch(fs, 'readSync', (original, ...args: never[]) => {
      const file = of(args[0]!);
      if (file === undefined) return original(...args);
      const [, buffer, offset, length, position] = args as unknown as [
        number,
        Uint8Array,
        number,
        number,
        number,
      ];
      return this.disk.read(file, buffer.subarray(offset, offset + length), position);
    });
    this.patch(fs, 'writeSync', (original, ...args: never[]) => {
      const file = of(args[0]!);
      if (file === undefined) return original(...args);
      const [, buffer, offset = 0, length = buffer.length - offset, position] = args as unknown as [
        number,
        Buffer,
        number?,
        number?,
        number?,
      ];
      const at = position ?? file.position;
      this.disk.write(file, at, buffer.subarray(offset, offset + length));
      if (file.syncs) this.synced(file);
      if (position === undefined) file.position += length;
      return length;
    });
  }

  /** Write of a handle that reports by a callback. */
  private patchWrite(): void {
    type Told = (error: Error | null, written?: number) => void;
    this.patch(fs, 'write', (original, ...args: never[]) => {
      if (!this.files.has(args[0]!)) return original(...args);
      const [descriptor, buffer, offset, length, position, told] = args as unknown as [
        number,
        Buffer,
        number,
        number,
        number,
        Told,
      ];
      const part = buffer.subarray(offset, offset + length);
      const written = this.writeLater(this.disk, descriptor, part, position);
      return written.then(() => told(null, length), told);
    });
  }

  private writeLater(
    disk: SimulatedDisk,
    descriptor: number,
    part: Buffer,
    position: number,
  ): Promise<void> {
    const file = this.files.get(descriptor);
    if (file === undefined) return Promise.reject(failed('EBADF', String(descriptor)));
    const bytes = Buffer.from(part);
    const { inode, path } = file;
    return disk.later(
      `write ${path} ${position} ${bytes.length}`,
      () => disk.write(file, position, bytes),
      { inode, write: { at: position, bytes } },
    );
  }

  private patchPromises(): void {
    this.patch(fs.promises, 'open', (original, ...args: never[]) => {
      const [path, flags = 'r'] = args as unknown as [string, (string | number)?];
      const name = this.nameOf(path);
      if (name === undefined) return original(...args);
      const { disk } = this;
      return disk.later(`open ${name}`, () => this.handleOf(disk, this.opened(name, flags)));
    });
    this.patch(fs.promises, 'rename', (original, ...args: never[]) => {
      const [from, to] = [this.nameOf(args[0]!), this.nameOf(args[1]!)];
      if (from === undefined) return original(...args);
      const { disk } = this;
      return disk.later(`rename ${from}`, () => disk.move(from, to!));
    });
    this.patch(fs.promises, 'rm', (original, ...args: never[]) => {
      const name = this.nameOf(args[0]!);
      if (name === undefined) return original(...args);
      const { disk } = this;
      return disk.later(`remove ${name}`, () => disk.remove(name));
    });
  }

  /** Members of a FileHandle that the log uses. */
  private handleOf(disk: SimulatedDisk, descriptor: number): object {
    const file = this.files.get(descriptor)!;
    const sync = () => disk.later(`sync ${file.path}`, () => this.synced(file));
    return {
      fd: descriptor,
      write: async (buffer: Buffer, offset: number, length: number, position: number) => {
        await this.writeLater(disk, descriptor, buffer.subarray(offset, offset + length), position);
        return { bytesWritten: length };
      },
      sync,
      datasync: sync,
      close: () => {
        this.files.delete(descriptor);
        return Promise.resolve();
      },
    };
  }
}
