/** State of a played recording for `GET /status`, with the schema of the answer. */
import { Type } from '../common/schema.ts';

export interface PlayFacts {
  readonly time: number;
  /** 0 = it stands until it is stepped. */
  readonly speed: number;
  readonly hasEnded: boolean;
}

export const PlayAnswer = Type.Object({
  time: Type.Integer({ description: 'market time, unix milliseconds' }),
  speed: Type.Integer({ description: 'times as fast; 0: time stands until it is stepped' }),
  ended: Type.Boolean({ description: 'the last message of the recording was played' }),
});

export function shownPlay({ hasEnded, speed, time }: PlayFacts) {
  return { time, speed, ended: hasEnded };
}
