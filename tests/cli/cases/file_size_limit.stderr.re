tfprep export: rank \d: cannot size a segment of \d+ bytes: File too large
tfprep report: cannot write 'r\.json': write to 'tfprep-\d+-[0-9a-f]{16}\.tmp': File too large
tfrun: rank \d: cannot size a segment of \d+ bytes: File too large
