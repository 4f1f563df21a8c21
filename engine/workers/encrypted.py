"""A TLS connection that several threads may use, one of which receives.

Python's own TLS sockets must not be read and written at the same time. Here records are made in
memory, under a lock that is never held while waiting for the network.
"""

from __future__ import annotations

import socket
import ssl
import threading

_CHUNK = 2**16


class EncryptedSocket:
    """Those parts of a socket that a `Connection` needs."""

    def __init__(self, underlying: socket.socket, context: ssl.SSLContext, *, server: bool) -> None:
        self._socket = underlying
        self._received, self._made = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._made, server_side=server)
        self._lock = threading.Lock()  # of the records
        self._sending = threading.Lock()  # held while they are sent, so that they stay in order

    def greet(self) -> None:
        """Both sides show their certificates; OSError if one is not trusted."""
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._take()
            except ssl.SSLError:
                self._flush()  # tells the other side why
                raise
            else:
                self._flush()
                return

    def sendall(self, data: bytes) -> None:
        with self._sending:
            with self._lock:
                self._tls.write(data)
                made = self._made.read()
            self._socket.sendall(made)

    def recv(self, size: int) -> bytes:
        while True:
            with self._lock:
                try:
                    return self._tls.read(size)
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLZeroReturnError:
                    return b""
            if not self._take():
                return b""

    def settimeout(self, seconds: float | None) -> None:
        self._socket.settimeout(seconds)

    def shutdown(self, how: int) -> None:
        self._socket.shutdown(how)

    def close(self) -> None:
        self._socket.close()

    def _flush(self) -> None:
        self._socket.sendall(self._made.read())

    def _take(self) -> bool:
        """Wait for more; false if there will be none."""
        data = self._socket.recv(_CHUNK)
        with self._lock:
            if data:
                self._received.write(data)
            else:
                self._received.write_eof()
        return bool(data)
