tfprep: unknown verb '--bogus'; the verbs are export, tune, topology[a-z, ]*; see 'tfprep --help'
