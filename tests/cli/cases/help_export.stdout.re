usage: tfprep export \[options\]\n.*  --tp N +.*  --topology CLASS +.*  --workload NAME\|FILE.*  --timeout MS +.*--output FILE.*
