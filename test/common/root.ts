/** Where the repository is, whether this file runs as source or compiled below dist/. */
import { basename, dirname, resolve } from 'node:path';

const above = resolve(import.meta.dirname, '../..');

export const ROOT = basename(above) === 'dist' ? dirname(above) : above;
