/**
 * The other child process of the suite `spans`, which does nothing but watch its turns: what it sees is the
 * machine's.
 *
 * Thread: its only one.
 */
import { answerQuestions } from '../common/child.ts';
import { longestSpan, watchTurns } from './turns.ts';

watchTurns();
answerQuestions({ longestSpan });
