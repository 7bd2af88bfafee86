tfprep: unknown verb 'exprot', did you mean 'export'\? the verbs are export, tune, topology[a-z, ]*; see 'tfprep --help'
