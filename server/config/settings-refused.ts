/** The settings of a start contradict those that its directory or its cluster retains. The message is for the operator. */
export class SettingsRefused extends Error {}
