# SPDX-License-Identifier: Apache-2.0
# On a terminal of 40 columns no line of the progress bar wraps.
cat > look.py <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios

ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
tool = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
seen = b""
try:
    while chunk := os.read(ours, 4096):
        seen += chunk
except OSError:
    pass # the other end is closed
frames = seen.split(b"\r")
print(tool.wait(), len(frames) > 3, max(map(len, frames)) < int(sys.argv[1]), b"#" in seen)
END
for columns in 80 40 9; do
	python3 look.py $columns "$TFPREP" export --device host --capacity 1 -o x.tfp
done
