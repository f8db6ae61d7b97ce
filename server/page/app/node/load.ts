/** A value that a component reads from the node, and reads again when asked. */
import { useEffect, useState } from 'preact/hooks';
import { textOf } from '../refusal-words.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  /** '' unless the last try failed. */
  readonly failure: string;
  reload(): void;
}

const RETRY_MS = 3_000;

/** @param key names what is read: another one forgets the value @param everyMs absent: read once */
export function useLoaded<T>(key: string, read: () => Promise<T>, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; failure: string }>({
    key,
    failure: '',
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (ms: number): void => {
      timer = setTimeout(() => setTurn((before) => before + 1), ms);
    };
    read().then(
      (value) => {
        if (isOver) return;
        setState({ key, value, failure: '' });
        if (everyMs !== undefined) again(everyMs);
      },
      (error: unknown) => {
        if (isOver) return;
        setState((before) => ({
          ...(before.key === key ? before : { key }),
          failure: textOf(error),
        }));
        again(RETRY_MS);
      },
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [key, turn]);
  const isOwn = state.key === key;
  return {
    value: isOwn ? state.value : undefined,
    failure: isOwn ? state.failure : '',
    reload: () => setTurn((before) => before + 1),
  };
}
