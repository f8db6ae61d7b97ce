/** The settings of a start contradict what its directory or its cluster keeps; the message is for the operator. */
export class SettingsRefused extends Error {}
