process.stderr.write('tollmark: nothing to run yet\n')
process.exitCode = 1
