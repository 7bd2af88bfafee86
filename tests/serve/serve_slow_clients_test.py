# SPDX-License-Identifier: Apache-2.0
"""Answers that are on their way when the server ends. Usage: TFRUN PACKAGE"""
import signal
import socket

import serve_driver as driver
from serve_driver import Server, check

LONG = ("--timeout", "600000")  # beyond what any wait of this script is bounded by


def ask_large(server):
    """A client that asked for more than all buffers hold and read only the head of the answer."""
    tensors = server.get_json("/v1/tensors")["tensors"]
    tensor = next(t for t in tensors if t["role"] == "output")
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    peer.settimeout(driver.WAIT_S)
    peer.connect(("127.0.0.1", server.port))
    peer.sendall(b"GET /v1/tensors/%s?rank=0 HTTP/1.1\r\nHost: x\r\n\r\n"
                 % tensor["name"].encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = peer.recv(4096)
        check(piece, "no answer", answer)
        answer += piece
    head, body = answer.split(b"\r\n\r\n", 1)
    check(b" 200 " in head and b"Content-Length: %d" % tensor["bytes"] in head, head)
    return peer, tensor["bytes"] - len(body)


def drain(server):
    """Until no rank is left."""
    server.process.send_signal(signal.SIGTERM)
    driver.wait_for(lambda: not driver.children(server.pid), "the end of the ranks")


def test_answer_outlives_the_ranks():
    with Server("--timeout", "20000") as server:
        peer, left = ask_large(server)
        drain(server)
        driver.time.sleep(0.5)
        while left:
            piece = peer.recv(1 << 20)
            check(piece, "the answer was cut,", left, "bytes are missing")
            left -= len(piece)
        code, _, err = server.end()
        check(code == 0 and err == "", code, err)
        peer.close()


def test_departed_clients_are_not_waited_for():
    with Server(*LONG) as server:
        peer, _ = ask_large(server)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.close()
        code, _, err = server.end(signal.SIGTERM)
        check(code == 0 and err == "", code, err)


def test_second_signal_waits_for_no_answer():
    with Server(*LONG) as server:
        peer, _ = ask_large(server)
        drain(server)
        check(server.process.poll() is None, "the answer was not waited for")
        code, _, err = server.end(signal.SIGTERM)
        check(code in (0, 1) and err == "", code, err)
        peer.close()


driver.main([
    test_answer_outlives_the_ranks, test_departed_clients_are_not_waited_for,
    test_second_signal_waits_for_no_answer])
