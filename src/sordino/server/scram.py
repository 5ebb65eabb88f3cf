"""SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side: a token is proved without being sent.

A client shows that it knows a token by a proof over both sides' nonces; the server shows that it knows the keys of
the token. What the server keeps does not let anyone who reads it pass as a client.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass

from sordino.sampling.source import random_bytes

ITERATIONS = 4096  # as PostgreSQL has it; a token is 256 random bits, which no search finds
MECHANISM = "SCRAM-SHA-256"


class ScramError(Exception):
    """A message is not as the protocol has it, or nobody's proof."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """What is kept of a token: enough to check a proof and to answer it, and not to make one."""

    stored_key: bytes
    server_key: bytes


def make_verifier(text: str, salt: bytes) -> Verifier:
    """The keys of a token, by RFC 5802 §3; tokens are ASCII, so they are prepared as they are."""
    salted = hashlib.pbkdf2_hmac("sha256", text.encode(), salt, ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    return Verifier(hashlib.sha256(client_key).digest(), hmac.digest(salted, b"Server Key", "sha256"))


def mock_salt(secret: bytes, name: str) -> bytes:
    """The salt of a name that nobody has: the same every time, and like any other to who does not know the secret."""
    return hmac.digest(secret, b"salt of " + name.encode(errors="replace"), "sha256")[:16]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A conversation after the client's first message: what was said so far, and the server's answer to it."""

    bare: str
    header: str
    nonce: str
    answer: str


def begin(message: bytes, salt: bytes) -> Exchange:
    """Answer the client's first message."""
    text = _decode(message)
    flag, comma, rest = text.partition(",")
    identity, second, bare = rest.partition(",")
    if flag not in ("n", "y") or not comma or not second or (identity and not identity.startswith("a=")):
        raise ScramError("the first message of SCRAM is malformed, or asks for channel binding")
    fields = _fields(bare)
    if "m" in fields or not fields.get("r"):
        raise ScramError("the first message of SCRAM has no nonce, or an extension")
    nonce = fields["r"] + base64.b64encode(random_bytes(18)).decode()
    answer = f"r={nonce},s={base64.b64encode(salt).decode()},i={ITERATIONS}"
    return Exchange(bare, f"{flag},{identity},", nonce, answer)


def finish(exchange: Exchange, message: bytes, verifiers: list[Verifier]) -> tuple[int, str]:
    """Which verifier a client's proof fits, and the server's own proof; ScramError if none does.

    Every verifier is compared, in constant time, whether one fitted before or not.
    """
    text = _decode(message)
    without, found, proof_text = text.rpartition(",p=")
    fields = _fields(without)
    header = base64.b64encode(exchange.header.encode()).decode()
    if not found or fields.get("c") != header or fields.get("r") != exchange.nonce:
        raise ScramError("the last message of SCRAM is malformed")
    try:
        proof = base64.b64decode(proof_text, validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("the proof of SCRAM is malformed") from None
    said = f"{exchange.bare},{exchange.answer},{without}".encode()
    place = -1
    nobody = Verifier(random_bytes(32), random_bytes(32))
    for number, keys in enumerate([*verifiers, nobody]):
        signature = hmac.digest(keys.stored_key, said, "sha256")
        client_key = bytes(a ^ b for a, b in zip(proof.ljust(32, b"\0")[:32], signature, strict=True))
        fits = hmac.compare_digest(hashlib.sha256(client_key).digest(), keys.stored_key) and len(proof) == 32
        place = number if fits else place
    if not 0 <= place < len(verifiers):
        raise ScramError("the proof fits no token")
    own = hmac.digest(verifiers[place].server_key, said, "sha256")
    return place, f"v={base64.b64encode(own).decode()}"


def _decode(message: bytes) -> str:
    try:
        return message.decode("utf-8")
    except UnicodeDecodeError:
        raise ScramError("a message of SCRAM is not UTF-8") from None


def _fields(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not equals or len(name) != 1 for name, equals, _ in pairs):
        raise ScramError("a message of SCRAM is malformed")
    return {name: value for name, _, value in pairs}
