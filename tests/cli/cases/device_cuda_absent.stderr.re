tfprep export: device 'cuda': .*libcuda\.so\.1.*
