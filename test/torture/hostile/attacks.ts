/** The attacks, in the order in which they run: a table against which SECURITY.md is checked. */
import { ADMIN_ATTACKS } from './admin-attacks.ts';
import type { Attack } from './attack.ts';
import { CONNECTION_ATTACKS } from './connection-attacks.ts';
import { KEY_ATTACKS } from './key-attacks.ts';
import { REQUEST_ATTACKS } from './request-attacks.ts';
import { STREAM_ATTACKS } from './stream-attacks.ts';

export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...CONNECTION_ATTACKS,
  ...REQUEST_ATTACKS,
  ...STREAM_ATTACKS,
  ...ADMIN_ATTACKS,
  // Last, because what keys have done stays in the tables of the engine.
  ...KEY_ATTACKS,
};
