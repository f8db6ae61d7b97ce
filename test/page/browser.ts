/**
 * The system's Chromium on the page of a node, without a window: its errors, its requests, and a
 * few actions of a reader.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { findChromium, openChromium } from '../../bench/page/chromium.ts';
import { ROOT } from '../common/root.ts';

/** Compiled tests lie one folder deeper than the sources, where the script is. */
const IN_PAGE = readFileSync(join(ROOT, 'test/page/in-page.js'), 'utf8');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Tags of axe-core for the rules of WCAG 2.2 to level AA, and good practice. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const WAIT_MS_MAX = 120_000;

export { findChromium };

export interface Size {
  readonly width: number;
  readonly height: number;
  /** True: like a phone with touch input. */
  readonly isMobile?: boolean;
  readonly hasTouch?: boolean;
}

export class Reader {
  readonly page: Page;
  readonly errors: string[] = [];
  readonly origins = new Set<string>();
  private readonly browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.browser = browser;
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    page.on('pageerror', (error: unknown) => this.errors.push(String(error)));
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin));
  }

  static async open(executablePath: string): Promise<Reader> {
    const browser = await openChromium(executablePath);
    const page = await browser.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    await page.evaluateOnNewDocument(IN_PAGE);
    return new Reader(browser, page);
  }

  close(): Promise<void> {
    return this.browser.close();
  }

  text(selector: string): Promise<string> {
    return this.page.$eval(selector, (element) => element.textContent ?? '');
  }

  texts(selector: string): Promise<string[]> {
    return this.page.$$eval(selector, (found) => found.map(({ textContent }) => textContent ?? ''));
  }

  sees(selector: string, pattern: RegExp): Promise<void> {
    return this.waitFor(selector, 'textContent', pattern);
  }

  chartSays(selector: string, pattern: RegExp): Promise<void> {
    return this.waitFor(selector, 'ariaLabel', pattern);
  }

  private async waitFor(
    selector: string,
    member: 'textContent' | 'ariaLabel',
    pattern: RegExp,
  ): Promise<void> {
    const found = `document.querySelector(${JSON.stringify(selector)})?.${member} ?? ''`;
    try {
      await this.page.waitForFunction(`${pattern}.test(${found})`, {
        polling: 20,
        timeout: WAIT_MS_MAX,
      });
    } catch (error) {
      const text = await this.page.evaluate(found);
      assert.fail(`${selector} says "${text}", not ${pattern}: ${error}`);
    }
  }

  async look(size: Size, scheme: 'light' | 'dark'): Promise<void> {
    await this.page.setViewport(size);
    await this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  }

  ask<T>(name: string, ...values: readonly unknown[]): Promise<T> {
    const call = `inPage.${name}(${values.map((value) => JSON.stringify(value)).join(', ')})`;
    return this.page.evaluate(call) as Promise<T>;
  }

  /** Faults that axe-core finds, a line for each broken rule. */
  async faults(): Promise<string[]> {
    if ((await this.page.evaluate('typeof axe')) === 'undefined') await this.page.evaluate(AXE);
    return this.ask('faults', AXE_TAGS);
  }
}

export function click(reader: Reader, selector: string): Promise<void> {
  return reader.page.locator(selector).click();
}

/** @param name of a spin button */
export async function fill(reader: Reader, name: string, text: string): Promise<void> {
  await reader.page.locator(`aria/${name}[role="spinbutton"]`).fill(text);
}
