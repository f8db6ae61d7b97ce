/** Path of the repository, for this file as source and compiled below dist/. */
import { basename, dirname, resolve } from 'node:path';

const above = resolve(import.meta.dirname, '../..');

export const ROOT = basename(above) === 'dist' ? dirname(above) : above;
