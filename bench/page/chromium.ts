/** Single entry point to the package puppeteer-core: the system's Chromium, without a window. */
import { spawnSync } from 'node:child_process';
import { type Browser, launch } from 'puppeteer-core';

export type { Browser, Page } from 'puppeteer-core';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome'];
const START_MS_MAX = 120_000;

/** Returns undefined where it is not installed. */
export function findChromium(): string | undefined {
  const found = spawnSync('which', COMMANDS, { encoding: 'utf8' }).stdout ?? '';
  return found.split('\n').find((path) => path !== '');
}

export function openChromium(executablePath: string): Promise<Browser> {
  // It may run as root in a container, where the browser's sandbox cannot be made.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return launch({ executablePath, args, timeout: START_MS_MAX });
}
