usage: tfprep VERB \[options\].*verbs:.*  export  +.*  tune  +.*  topology  +.*'tfprep VERB --help' describes one verb\.
