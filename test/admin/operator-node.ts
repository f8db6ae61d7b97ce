import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../bench/common/free-port.ts';
import type { OperationKey } from '../../server/admin/operation-table.ts';
import { type Settings, TestNode } from '../common/node-harness.ts';

export interface Answered {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

export class OperatorNode {
  readonly node: TestNode;
  readonly base: string;
  readonly token: string;

  private constructor(node: TestNode, base: string, token: string) {
    this.node = node;
    this.base = base;
    this.token = token;
  }

  static async start(dataDir: string, settings: Settings = {}): Promise<OperatorNode> {
    const port = settings.ADMIN_PORT ?? String(await freePort());
    return OperatorNode.of(
      await TestNode.start(dataDir, { ...settings, ADMIN_PORT: port }),
      dataDir,
      port,
    );
  }

  /** Operations of a running node whose admin listener is at `port`. */
  static of(node: TestNode, dataDir: string, port: string): OperatorNode {
    const token = readFileSync(join(dataDir, 'admin.token'), 'utf8').trim();
    return new OperatorNode(node, `http://127.0.0.1:${port}`, token);
  }

  /** @param key an operation of the table, or a path that is none */
  async call(
    key: string,
    body?: unknown,
    headers: Record<string, string> = { Authorization: `Bearer ${this.token}` },
  ): Promise<Answered> {
    const [method = '', path = ''] = key.split(' ');
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${this.base}${path}`, { method, headers, ...sent });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  async done(key: OperationKey, body?: unknown, query = ''): Promise<Record<string, unknown>> {
    const { json, status } = await this.call(`${key}${query}`, body);
    assert.equal(status, 200, `${JSON.stringify(json)}\n${this.node.log}`);
    return json;
  }
}
