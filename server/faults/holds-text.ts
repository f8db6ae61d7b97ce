/** Search for a text in the bytes of a message, without a copy of them. Thread: any; pure. */
import { Buffer } from 'node:buffer';

export function holdsText(message: string | Uint8Array, text: string): boolean {
  if (typeof message === 'string') return message.includes(text);
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength).includes(text);
}
