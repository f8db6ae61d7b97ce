/**
 * Authentication between this node and a member of etcd, in both directions: certificates, user and password. The only
 * file that uses the gRPC under the package etcd3. By itself the package sends an IP address as the name of the server,
 * of which Node warns, and asks for the token of a user on a connection that may hang for ever.
 *
 * Thread: the I/O thread.
 */
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { ChannelCredentials, ChannelOptions, Interceptor } from '@grpc/grpc-js';

export interface EtcdUser {
  readonly name: string;
  readonly password: string;
}

/** PEM texts; without `ca` the authorities of the system are trusted. */
export interface EtcdTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface EtcdAccess extends EtcdTls {
  /** Undefined: none, or the one that the certificate names. */
  readonly user?: EtcdUser;
}

type Grpc = typeof import('@grpc/grpc-js');

/** Sent as the name of a server whose address is a number: Node refuses to send that. */
const NO_NAME = 'etcd';
const TOKEN_MS_MAX = 2_000;
/** A refused user is not tried again before: each try costs etcd a tenth of a second of a processor. */
const REFUSED_MS = 1_000;
/** Errors of etcd for a token that is not valid any more: etcd has started again, or its users have changed. */
const OLD_TOKEN = /invalid auth token|revision of auth store is old/;

/** Asks a member for a token. @param deadline unix milliseconds */
type Authenticate = (
  user: EtcdUser,
  options: { readonly deadline: number },
) => Promise<{ readonly token: string }>;

export function accessOptions(
  member: string,
  isSecure: boolean,
  access: EtcdAccess,
  authenticate: Authenticate,
): { readonly hosts: string; readonly grpcOptions: ChannelOptions } {
  const { user } = access;
  const grpc = grpcOfEtcd3();
  const interceptors = user === undefined ? [] : [withToken(grpc, new Tokens(user, authenticate))];
  if (!isSecure) return { hosts: `http://${member}`, grpcOptions: { interceptors } };
  return {
    hosts: `https://${member}`,
    grpcOptions: { interceptors, ...secureChannel(grpc, member, access) },
  };
}

/** The copy that etcd3 itself uses, wherever it is installed. */
function grpcOfEtcd3(): Grpc {
  const { resolve } = createRequire(import.meta.url);
  return createRequire(resolve('etcd3'))('@grpc/grpc-js') as Grpc;
}

/** The certificate of a member has to name the host in CLUSTER, be it a name or an address. */
function secureChannel(grpc: Grpc, member: string, { ca, cert, key }: EtcdTls): ChannelOptions {
  const host = member.slice(0, member.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  const credentials = grpc.credentials.createSsl(ca ?? null, key ?? null, cert ?? null, {
    checkServerIdentity: (_, shown) => checkServerIdentity(host, shown),
  });
  return {
    ...(isIP(host) === 0 ? {} : { 'grpc.ssl_target_name_override': NO_NAME }),
    channelFactoryOverride: (address: string, _: ChannelCredentials, options: ChannelOptions) =>
      new grpc.Channel(address, credentials, options),
  };
}

/** Sends each call, but that for the token itself, with the token of the user. */
function withToken(grpc: Grpc, tokens: Tokens): Interceptor {
  return (options, nextCall) => {
    const call = nextCall(options);
    if (options.method_definition.path.endsWith('/Authenticate')) {
      return new grpc.InterceptingCall(call);
    }
    return new grpc.InterceptingCall(call, {
      start(metadata, listener, next) {
        tokens.get().then(
          (token) => {
            metadata.set('token', token);
            next(metadata, {
              onReceiveStatus(status, pass) {
                if (OLD_TOKEN.test(status.details)) tokens.forget(token);
                pass(status);
              },
            });
          },
          ({ message }: Error) => {
            const code = grpc.status.UNAUTHENTICATED;
            listener.onReceiveStatus({ code, details: message, metadata: new grpc.Metadata() });
          },
        );
      },
    });
  };
}

class Tokens {
  private readonly user: EtcdUser;
  private readonly authenticate: Authenticate;
  private current: Promise<string> | undefined;

  constructor(user: EtcdUser, authenticate: Authenticate) {
    this.user = user;
    this.authenticate = authenticate;
  }

  get(): Promise<string> {
    if (this.current !== undefined) return this.current;
    const current = this.ask();
    this.current = current;
    current.catch(() => {
      const again = (): void => this.drop(current);
      setTimeout(again, REFUSED_MS).unref();
    });
    return current;
  }

  forget(token: string): void {
    const { current } = this;
    void current?.then(
      (held) => held === token && this.drop(current),
      () => undefined,
    );
  }

  private drop(token: Promise<string>): void {
    if (this.current === token) this.current = undefined;
  }

  private async ask(): Promise<string> {
    const deadline = Date.now() + TOKEN_MS_MAX;
    const { token } = await this.authenticate(this.user, { deadline });
    return token;
  }
}
