/** Reads a JSON object that another node has put into the shared log; `undefined` where the bytes are none. Pure. */
export function jsonObject(value: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(value.toString());
    return typeof found === 'object' ? { ...found } : undefined;
  } catch {
    return undefined;
  }
}
