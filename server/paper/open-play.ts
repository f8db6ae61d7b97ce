/**
 * Opens the recording that a node plays, before any record gets a time. Market time stands at its beginning, or at
 * PLAY_FROM.
 *
 * Thread: the I/O thread.
 */
import { openRecording, type Recording } from '../../storage/recordings/recording.ts';
import { PlayClock } from './play-clock.ts';

export interface OpenedPlay {
  readonly clock: PlayClock;
  readonly recording: Recording;
}

interface PlaySettings {
  readonly play: string;
  readonly playFrom: number;
  readonly playSpeed: number;
}

export async function openPlay({ play, playFrom, playSpeed }: PlaySettings): Promise<OpenedPlay> {
  const recording = await openRecording(play);
  const began = Math.max(playFrom, recording.header.started);
  return { clock: new PlayClock(began, playSpeed), recording };
}
