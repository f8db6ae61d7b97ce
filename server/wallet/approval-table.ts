/**
 * Approvals that clients look for before they trade: pairs of a token contract and its spender, by their ids. Nobody
 * gives any here, as the ledger moves collateral and shares by signed orders alone: each counts as given.
 *
 * Thread: any. Data.
 */

import {
  COLLATERAL,
  COLLATERAL_ADAPTER,
  CONDITIONAL,
  NEG_RISK_ADAPTER,
  NEG_RISK_COLLATERAL_ADAPTER,
  POSITIONS,
  ROUTER,
} from './venue-contracts.ts';

const AUTO_REDEEM_OPERATOR = '0xf3cfb6a6ebfeb51876289eb235719eb1c65252b0';
const REDEEMER = '0xa1200000d0002264c9a1698e001292d00e1b00af';
const BINARY_MODULE = '0x1000008dd9001b968442c1000017eae6e0da00ba';
const NEG_RISK_MODULE = '0x200000900045e3b6259600682756002200028933';

export interface Exchanges {
  readonly normal: string;
  readonly negRisk: string;
  readonly positions: string;
}

interface Approval {
  readonly id: string;
  readonly feature: string;
  readonly token: string;
  readonly spender: string;
  readonly standard: 'ERC20' | 'ERC1155';
  /** Absent where an approval is of everything. */
  readonly amount?: 'max';
  readonly approved: true;
}

export function approvalsOf({ negRisk, normal, positions }: Exchanges): readonly Approval[] {
  return [
    allowance('UsdcCtf', CONDITIONAL),
    allowance('UsdcExchange', normal),
    allowance('UsdcNegRiskExchange', negRisk),
    allowance('UsdcNegRiskAdapter', NEG_RISK_ADAPTER),
    allowance('UsdcCollateralAdapter', COLLATERAL_ADAPTER),
    allowance('UsdcNegRiskCollateralAdapter', NEG_RISK_COLLATERAL_ADAPTER),
    allowance('PusdV2Exchange', positions),
    allowance('PusdV2Router', ROUTER),
    operator('CtfExchangeIsApprovedForAll', CONDITIONAL, normal),
    operator('CtfNegRiskExchangeIsApprovedForAll', CONDITIONAL, negRisk),
    operator('CtfNegRiskAdapterIsApprovedForAll', CONDITIONAL, NEG_RISK_ADAPTER),
    operator('CtfCollateralAdapterIsApprovedForAll', CONDITIONAL, COLLATERAL_ADAPTER),
    operator(
      'CtfNegRiskCollateralAdapterIsApprovedForAll',
      CONDITIONAL,
      NEG_RISK_COLLATERAL_ADAPTER,
    ),
    operator('V2PositionManagerRouterIsApprovedForAll', POSITIONS, ROUTER),
    operator('V2PositionManagerExchangeIsApprovedForAll', POSITIONS, positions),
    operator('AutoRedeemCtfOperator', CONDITIONAL, AUTO_REDEEM_OPERATOR, AUTO_REDEEM),
    operator('AutoRedeemCtfV2Redeemer', CONDITIONAL, REDEEMER, AUTO_REDEEM),
    operator('AutoRedeemV2PositionManagerV2Redeemer', POSITIONS, REDEEMER, AUTO_REDEEM),
    operator('CtfBinaryModuleIsApprovedForAll', CONDITIONAL, BINARY_MODULE),
    operator('CtfNegRiskModuleIsApprovedForAll', CONDITIONAL, NEG_RISK_MODULE),
  ];
}

const TRADING = 'trading';
const AUTO_REDEEM = 'auto-redeem';

function allowance(id: string, spender: string): Approval {
  const pair = { id, feature: TRADING, token: COLLATERAL, spender: spender.toLowerCase() };
  return { ...pair, standard: 'ERC20', amount: 'max', approved: true };
}

function operator(id: string, token: string, spender: string, feature = TRADING): Approval {
  const pair = { id, feature, token, spender: spender.toLowerCase() };
  return { ...pair, standard: 'ERC1155', approved: true };
}
