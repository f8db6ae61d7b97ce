/**
 * A recording that a node is to play, opened before anything is stamped with a time.
 *
 * Thread: the I/O thread.
 */
import { openRecording, type Recording } from '../../storage/recordings/recording.ts';
import { PlayClock } from './play-clock.ts';

export interface OpenedPlay {
  readonly clock: PlayClock;
  readonly recording: Recording;
}

/** PLAY, PLAY_FROM and PLAY_SPEED. */
interface PlaySettings {
  readonly play: string;
  readonly playFrom: number;
  readonly playSpeed: number;
}

/** Market time stands where the recording begins, or at PLAY_FROM. */
export async function openPlay({ play, playFrom, playSpeed }: PlaySettings): Promise<OpenedPlay> {
  const recording = await openRecording(play);
  const began = Math.max(playFrom, recording.header.started);
  return { clock: new PlayClock(began, playSpeed), recording };
}
