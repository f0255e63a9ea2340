import type { IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';

/** What n8n gives a node to work with: one that handles items, or one that serves another node. */
export type NodeContext = IExecuteFunctions | ISupplyDataFunctions;
