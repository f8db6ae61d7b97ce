/** Name of the operator in the audit log. */
import { userInfo } from 'node:os';

/** Returns the user who runs the command; `uid 1234` where the system has no name for it, as in many containers. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
