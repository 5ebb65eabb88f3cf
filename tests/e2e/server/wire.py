"""PostgreSQL's protocol by hand, for what no client would send. SCRAM is written from RFC 5802, not from our side."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import struct


def frame(letter: bytes, body: bytes = b"") -> bytes:
    return letter + struct.pack("!i", len(body) + 4) + body


def startup(user: str, version: int = 3 << 16) -> bytes:
    body = struct.pack("!i", version) + b"user\0" + user.encode() + b"\0database\0shop\0\0"
    return struct.pack("!i", len(body) + 4) + body


class Wire:
    """A connection whose bytes the test chooses."""

    def __init__(self, address: tuple[str, int], timeout: float = 20) -> None:
        self.socket = socket.create_connection(address, timeout)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, content: bytes) -> None:
        self.socket.sendall(content)

    def exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self.socket.recv(count - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    def message(self) -> tuple[bytes, bytes]:
        letter = self.exactly(1)
        (length,) = struct.unpack("!i", self.exactly(4))
        return letter, self.exactly(length - 4)

    def until_ready(self) -> list[tuple[bytes, bytes]]:
        found = [self.message()]
        while found[-1][0] != b"Z":
            found.append(self.message())
        return found

    def drain(self) -> bytes:
        """All until the server closes."""
        found = b""
        try:
            while part := self.socket.recv(65536):
                found += part
        except (TimeoutError, ConnectionError):
            pass
        return found

    def login(self, user: str, token: str) -> list[tuple[bytes, bytes]]:
        self.send(startup(user))
        self.message()
        bare = "n=,r=abcdefgh"
        first = b"n,," + bare.encode()
        self.send(frame(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first))
        _, answer = self.message()
        told = answer[4:].decode()
        fields = dict(part.split("=", 1) for part in told.split(","))
        salted = hashlib.pbkdf2_hmac(
            "sha256", token.encode(), base64.b64decode(fields["s"]), int(fields["i"])
        )
        client = hmac.digest(salted, b"Client Key", "sha256")
        without = f"c=biws,r={fields['r']}"
        sign = hmac.digest(hashlib.sha256(client).digest(), f"{bare},{told},{without}".encode(), "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(client, sign, strict=True))).decode()
        self.send(frame(b"p", f"{without},p={proof}".encode()))
        return self.until_ready()

    def login_wrongly(self, user: str) -> bytes:
        """A proof of no token; what is answered."""
        self.send(startup(user))
        self.message()
        first = b"n,,n=,r=abcdefgh"
        self.send(frame(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first))
        _, answer = self.message()
        nonce = answer[4:].split(b",")[0]
        self.send(frame(b"p", b"c=biws," + nonce + b",p=" + base64.b64encode(bytes(32))))
        return self.drain()
