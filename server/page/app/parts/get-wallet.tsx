/** Sentence that tells somebody without a wallet how to get one. */
import { modes } from '../node/api.ts';

/** @param purpose follows "to get a wallet"; '' = nothing */
export function GetWallet({ purpose = '' }: { readonly purpose?: string }) {
  return (
    <>
      {modes.value?.invites === true ? (
        <a href="join">Join with an invitation</a>
      ) : (
        'Press Play above'
      )}{' '}
      to get a wallet{purpose === '' ? '' : ` ${purpose}`}.
    </>
  );
}
