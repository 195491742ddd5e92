// TABLE of signals for the server that also reach its converters.

/** Sent to a whole process group: by Ctrl-C, a closed terminal, a supervisor. */
export const IGNORED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
