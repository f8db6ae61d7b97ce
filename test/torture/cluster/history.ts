/**
 * Observations of clients at several nodes, and a check that one order of events explains them.
 * Every read book is one that the orders made, and none was read before its order was sent. Reads
 * of a node never go back, and a read of the leader shows all earlier acknowledgements. Records
 * have one digest on all nodes, and no node claims to lead after another one has claimed a later
 * epoch.
 *
 * Non-goals: reading (observer.ts), and the expected books (the load tool's own).
 */

/** A book by its states, in the order in which its orders were executed. */
interface Book {
  /** Indexes at which each state occurs; one may occur again. */
  readonly places: Map<string, number[]>;
  /** Numbers of orders whose sending has begun, and of acknowledged ones. */
  sent: number;
  acknowledged: number;
}

export interface BookRead {
  readonly node: string;
  readonly book: string;
  readonly state: string;
  /** Orders of the book that were sent when the answer came. */
  readonly sent: number;
  /** Index that it has to show at least: 0, or the acknowledged one when the leader was asked. */
  readonly atLeast: number;
}

export interface StatusRead {
  readonly node: string;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly sequence: number;
  readonly digest: number;
  readonly epoch: number;
  /** True when the node says that it leads, and that its state is current. */
  readonly leads: boolean;
}

export class History {
  readonly problems: string[] = [];
  reads = 0;
  private readonly books = new Map<string, Book>();
  private readonly pending: BookRead[] = [];
  /** Newest state that a read has shown, by node and book. */
  private readonly shown = new Map<string, number>();
  private readonly digests = new Map<number, number>();
  private readonly sequences = new Map<string, { sequence: number; answeredAt: number }>();
  private readonly leading = new Map<number, { node: string; answeredAt: number }>();

  open(book: string, state: string): void {
    this.books.set(book, { places: new Map([[state, [0]]]), sent: 0, acknowledged: 0 });
  }

  sends(book: string): void {
    this.books.get(book)!.sent += 1;
  }

  /** Adds the state of a book after its next acknowledged order. */
  acknowledges(book: string, state: string): void {
    const it = this.books.get(book)!;
    it.acknowledged += 1;
    const places = it.places.get(state);
    if (places === undefined) it.places.set(state, [it.acknowledged]);
    else places.push(it.acknowledged);
  }

  counts(book: string): { readonly sent: number; readonly acknowledged: number } {
    return this.books.get(book)!;
  }

  read(read: BookRead): void {
    this.pending.push(read);
  }

  status(read: StatusRead): void {
    const { answeredAt, askedAt, digest, epoch, leads, node, sequence } = read;
    const known = this.digests.get(sequence);
    if (known === undefined) this.digests.set(sequence, digest);
    else if (known !== digest) {
      this.problems.push(`record ${sequence}: digest ${digest} on ${node}, ${known} elsewhere`);
    }
    const last = this.sequences.get(node);
    if (last !== undefined && askedAt >= last.answeredAt && sequence < last.sequence) {
      this.problems.push(`${node} goes back from record ${last.sequence} to ${sequence}`);
    }
    this.sequences.set(node, { sequence, answeredAt });
    if (leads) this.leads(node, epoch, askedAt, answeredAt);
  }

  private leads(node: string, epoch: number, askedAt: number, answeredAt: number): void {
    const same = this.leading.get(epoch);
    if (same !== undefined && same.node !== node) {
      this.problems.push(`${node} and ${same.node} lead in epoch ${epoch}`);
    }
    this.leading.set(epoch, { node, answeredAt: same?.answeredAt ?? answeredAt });
    for (const [other, first] of this.leading) {
      if (other <= epoch || first.answeredAt >= askedAt) continue;
      const ms = Math.round(askedAt - first.answeredAt);
      this.problems.push(
        `${node} leads in epoch ${epoch}, asked ${ms} ms after ${first.node} led in epoch ${other}`,
      );
    }
  }

  /** Judges the reads so far; no request is in flight. */
  check(): void {
    for (const read of this.pending.splice(0)) this.judge(read);
  }

  private judge({ atLeast, book, node, sent, state }: BookRead): void {
    this.reads += 1;
    const places = this.books.get(book)!.places.get(state) ?? [];
    const key = `${node} ${book}`;
    const last = this.shown.get(key) ?? 0;
    const place = places.find((it) => it >= Math.max(last, atLeast));
    if (place !== undefined && place <= sent) {
      this.shown.set(key, place);
      return;
    }
    const where = places.length === 0 ? 'nowhere' : `after orders ${places.slice(-5).join(', ')}`;
    this.problems.push(
      `${node} shows a book of ${book.slice(0, 8)} that is ${where}; it has shown ${last}, ` +
        `${atLeast} were acknowledged, ${sent} sent`,
    );
  }
}
