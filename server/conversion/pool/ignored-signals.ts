// TABLE of signals that are meant for the server and reach its converters too.

/** Sent to a whole process group: by Ctrl-C, a closed terminal, a supervisor. */
export const IGNORED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
