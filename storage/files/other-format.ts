/** The error text for stored bytes of another format, and what the operator can do. Thread: any. */
export function otherFormat(found: number, read: number): string {
  return (
    `its format is ${found}, this node reads ${read}; it has no way from one to the other: run the ` +
    'version that wrote it, or begin with another DATA_DIR'
  );
}
