tfprep: unknown verb 'frobnicate'; the verbs are export, tune, topology[a-z, ]*; see 'tfprep --help'
