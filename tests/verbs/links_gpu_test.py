# SPDX-License-Identifier: Apache-2.0
"""
How GPUs are joined: stored by tfprep, drawn by its report, compared by tfrun and tfprep verify. A
driver and an NVML of our own are in the search path. Usage: TFPREP TFRUN WORKLOAD
"""
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from serve_driver import children, is_alive, links, wait_for  # noqa: E402

TFPREP, TFRUN, WORKLOAD = sys.argv[1:4]
PLACE = tempfile.TemporaryDirectory(prefix="tf-joined-")
FOLDER = PLACE.name
STARTED = []  # what a failed test leaves behind is ended
SIGNATURE = "gpu;class=switched;world=2;models=10de:06d2,10de:06d2;links=self nvlink@53/nvlink@53 self"
DIFFERS = "topology.signature: rank 0 to rank 1: package 'nvlink@53', machine 'sys', and 1 other pair"
HIDDEN = "cannot see how the GPUs are joined: no GPU at '0000:06:00.0' for rank 0"


def run(*words, code=0, **environment):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def export(name, *more, **environment):
    path = os.path.join(FOLDER, name)
    run(TFPREP, "export", "--tp", "2", "--capacity", "1", "--workload", WORKLOAD, "-o", path, *more,
        **environment)
    return path


def identity(path):
    return json.loads(run(TFPREP, "inspect", "--json", path)[0])["identity"]


def test_stored(path):
    assert identity(path)["topology.signature"] == SIGNATURE, identity(path)
    links = json.loads(run(TFPREP, "report", "--json", "-o", "-", path)[0])["topology"]["links"]
    assert links[0][1] == {"link": "nvlink", "bandwidth_gbps": 53}, links
    host = export("host.tfp", "--device", "host")
    assert identity(host)["topology.signature"] == f"host:{os.uname().machine}"
    out, _ = run(TFRUN, "--check", "--strict", host)
    assert "links" not in out, out


def test_fits(path):
    out, err = run(TFRUN, "--check", "--strict", path)
    assert "fits: 2 ranks on device cuda" in out and "links" not in out and not err, (out, err)
    assert json.loads(run(TFRUN, "--check", "--json", path)[0])["links_not_compared"] is None
    assert "2 GPUs are joined as the maker's\n" in run(TFPREP, "verify", "--run", path)[0]


def test_differs(path):
    for words in ((TFRUN, "--check"), (TFRUN,), (TFPREP, "verify", "--run")):
        _, err = run(*words, path, code=3, FAKE_NVML_UNLINKED="1")
        assert DIFFERS in err and err.count("\n") == 1, err
    _, err = run(TFRUN, "--check", path, code=3, FAKE_CUDA_DEVICES="1")
    assert "package 'nvlink@53', machine 'self'" in err, err
    other = export("sys.tfp", "--device", "cuda", FAKE_NVML_UNLINKED="1")
    assert "class=host-bridge;" in identity(other)["topology.signature"]
    _, err = run(TFRUN, "--check", other, code=3)
    assert "package 'sys', machine 'nvlink@53'" in err, err


def test_beside_the_ranks(path):
    """The machine is looked at while the ranks start: ready waits for it, its refusal is what is
    told whatever a rank met before, and a look that never ends is bounded."""
    slow = {"FAKE_NVML_SLOW": "1500"}
    load = json.loads(run(TFRUN, "--check", "--json", path, **slow)[0])["load_ns"]
    assert 0 < load["links"] < load["total"], load
    broken = {"FAKE_CUDA_FAIL": "cuMemCreate:1"}
    _, err = run(TFRUN, "--check", path, code=1, **slow, **broken)
    assert "cuMemCreate(" in err and err.count("\n") == 1, err
    _, err = run(TFRUN, "--check", path, code=3, FAKE_NVML_UNLINKED="1", **slow, **broken)
    assert DIFFERS in err and err.count("\n") == 1, err
    _, err = run(TFRUN, "--check", "--timeout", "700", path, code=1, FAKE_NVML_SLOW="60000")
    assert "the links between GPUs could not be read within 19200 ms" in err, err
    _, err = run(TFRUN, "--check", path, code=1, FAKE_NVML_DIES="1")
    assert f"cannot load '{path}': the process that looks at the links" in err, err
    assert err.count("\n") == 1, err


def ignores(pid, number):
    with open(f"/proc/{pid}/status") as file:
        mask = next(line for line in file if line.startswith("SigIgn")).split()[1]
    return int(mask, 16) >> (number - 1) & 1


class Loading:
    """A tfrun that loads, in a process group of its own; `processes` are its own and theirs."""

    def __init__(self, *words, **environment):
        self.tfrun = subprocess.Popen([TFRUN, *words], stdout=subprocess.PIPE, text=True,
                                      stderr=subprocess.PIPE, start_new_session=True,
                                      env={**os.environ, **environment})
        STARTED.append(self.tfrun)
        wait_for(lambda: len(children(self.tfrun.pid)) == 3, "no processes")
        self.looking, *self.ranks = children(self.tfrun.pid)
        for pid in (self.looking, *self.ranks):
            wait_for(lambda pid=pid: ignores(pid, signal.SIGTERM), f"{pid} minds signals")
        self.processes = [self.looking, *self.ranks]

    def end(self, code):
        out, err = self.tfrun.communicate(timeout=60)
        assert self.tfrun.returncode == code, (self.tfrun.returncode, out, err)
        for pid in self.processes:
            wait_for(lambda pid=pid: not is_alive(pid), f"the end of {pid}")
        return out, err


def test_signals_while_looking(path):
    """A terminal and a service manager send them to all processes: whose they are acts alone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        loading = Loading("--check", path, FAKE_NVML_SLOW="60000")
        os.kill(loading.looking, number)
        os.killpg(loading.tfrun.pid, number)
        assert loading.end(130) == ("", "tfrun: interrupted before there was a result\n")
    loading = Loading("--check", path, FAKE_NVML_SLOW="60000")
    loading.tfrun.kill()
    loading.end(-signal.SIGKILL)


def test_driver_hangs(path):
    """Nobody is left behind in the driver, however the server ends."""
    for number, code in ((None, 1), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)):
        loading = Loading("--check", "--timeout", "1000", path, FAKE_CUDA_SLOW="60000")
        time.sleep(0.2)
        loading.processes += [pid for each in loading.processes for pid in children(each)]
        if number:
            loading.tfrun.send_signal(number)
        _, err = loading.end(code)
        assert number or "the ranks were not ready within 21000 ms" in err, err


def test_driver_is_slow(path):
    """What a GPU's driver takes on top of the timeouts is no rank's fault. Each rank asks twice."""
    run(TFRUN, "--check", "--timeout", "700", path, FAKE_CUDA_SLOW="2300")


def test_descriptors(path):
    """A rank's own: of the sockets none is the supervisor's."""
    loading = Loading("--check", path, FAKE_NVML_SLOW="60000")
    for pid in loading.ranks:  # it lets go of what is beside it first
        wait_for(lambda pid=pid: not any("pidfd" in link for link in links(pid)), links(pid))
    owners = {pid: {link for link in links(pid) if link.startswith("socket:")}
              for pid in (loading.tfrun.pid, *loading.processes)}
    for pid in loading.ranks:
        shared = owners[pid] & owners[loading.tfrun.pid]
        assert not shared, (pid, shared)
    assert len(owners[loading.looking]) == 1, owners
    loading.tfrun.send_signal(signal.SIGTERM)
    loading.end(130)


def test_fault_then_signal(path):
    """A rank's fault that waits for the look is told by whoever ends the server meanwhile."""
    for number in (signal.SIGTERM, signal.SIGINT):
        loading = Loading("--check", path, FAKE_NVML_SLOW="60000")
        rank = loading.ranks[0]
        os.kill(rank, signal.SIGKILL)
        wait_for(lambda: rank not in children(loading.tfrun.pid), "its end is not seen")
        loading.tfrun.send_signal(number)
        _, err = loading.end(1)
        assert "rank 0 was killed by signal 9" in err and err.count("\n") == 1, err


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def flood(port):
    """A client that asks and does not read, so that an answer is always on its way."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /v1/package HTTP/1.1\r\nHost: x\r\n\r\n" * 20000)
    return client


def test_ended_is_not_ready(path):
    """While the last answers leave, the look's must not make ready what was told to end."""
    port = free_port()
    gate = os.path.join(FOLDER, "gate")
    with open(gate, "w"):
        pass
    loading = Loading("--listen", f"127.0.0.1:{port}", path, FAKE_NVML_WAITS=gate)
    with flood(port):
        time.sleep(0.5)  # the ranks are ready
        loading.tfrun.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        os.unlink(gate)  # the look would answer now, while the answers have time for leaving
        assert loading.end(0) == ("", "")


def test_not_told(path):
    out, err = run(TFRUN, "--check", path, FAKE_NVML_INIT="9")
    assert f"; links not compared: {HIDDEN}\n" in out and not err, (out, err)
    out, _ = run(TFRUN, "--check", "--json", path, FAKE_NVML_INIT="9")
    assert json.loads(out)["links_not_compared"] == HIDDEN, out
    _, err = run(TFRUN, "--check", "--strict", path, code=3, FAKE_NVML_INIT="9")
    assert HIDDEN in err and err.count("\n") == 1, err


def test_not_recorded(_):
    """A class that is named is believed where the machine shows no GPUs; none can be detected."""
    _, err = run(TFPREP, "tune", "--device", "cuda", "--workload", WORKLOAD, code=3,
                 FAKE_NVML_INIT="9")
    assert f"{HIDDEN}; name the class with '--topology'\n" in err, err
    path = os.path.join(FOLDER, "none.tfp")
    out, _ = run(TFPREP, "export", "--device", "cuda", "--topology", "switched", "--capacity", "1",
                 "--workload", WORKLOAD, "-o", path, FAKE_NVML_INIT="9")
    assert f"\nlinks     not recorded: {HIDDEN}\n" in out, out
    assert identity(path)["topology.signature"] == f"cuda:{os.uname().machine}"
    out, _ = run(TFRUN, "--check", path)
    assert "; links not compared: the package records none\n" in out, out
    run(TFRUN, "--check", "--strict", path, code=3)


def main():
    if os.path.exists("/dev/nvidiactl") or os.path.exists("/sys/bus/pci/drivers/nvidia"):
        print("skipped: this machine has GPUs of its own")
        return 77
    atexit.register(lambda: [tfrun.kill() for tfrun in STARTED if tfrun.poll() is None])
    path = export("cuda.tfp", "--device", "cuda")
    for test in (test_stored, test_fits, test_differs, test_beside_the_ranks,
                 test_signals_while_looking, test_driver_hangs, test_driver_is_slow,
                 test_descriptors, test_fault_then_signal, test_ended_is_not_ready, test_not_told,
                 test_not_recorded):
        test(path)
        print("ok", test.__name__)
    return 0


sys.exit(main())
