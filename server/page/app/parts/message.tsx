/** The operator's message to everybody. */
import { publicClient } from '../node/api.ts';
import { useLoaded } from '../node/load.ts';

const POLL_MS = 30_000;

export function Message() {
  const { value: text = '' } = useLoaded('message', readMessage, POLL_MS);
  if (text === '') return null;
  return (
    <aside class="message" aria-label="Message of the operator">
      {text}
    </aside>
  );
}

async function readMessage(): Promise<string> {
  const client = await publicClient();
  const { message } = await client.call('GET /status', {});
  return message?.text ?? '';
}
