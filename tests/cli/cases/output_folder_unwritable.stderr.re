tfprep export: cannot write '/proc/x\.tfp': cannot create '/proc/tfprep-[0-9]+-[0-9a-f]{16}\.tmp': .*
