/** Operation that tells a caller what its token allows. Thread: I/O. */

import type { Role } from './access.ts';
import { operation } from './operation-row.ts';
import { NoInput, RoleAnswer } from './operation-schemas.ts';

export const ROLE_OPERATIONS = [
  operation(
    'GET /admin/role',
    {
      does: 'the role of the token, and the operations that it allows',
      input: NoInput,
      answer: RoleAnswer,
      resolver: true,
    },
    (operationsOf: (role: Role) => string[]) =>
      (_, { role }) => ({ role, operations: operationsOf(role) }),
  ),
];
