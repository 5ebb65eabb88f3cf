"""How a connection begins: encryption, settings, and the proof of a token by SCRAM."""

from __future__ import annotations

import ssl
import struct

from sordino.core.errors import UnknownTokenError
from sordino.server import scram
from sordino.server.identity import Identity
from sordino.server.postgres import frames
from sordino.server.postgres.channel import Channel, Ended
from sordino.server.postgres.frames import FrameError, MessageBody, frame, text
from sordino.server.postgres.session_settings import SessionSettings
from sordino.server.postgres.sqlstate import state_error
from sordino.server.service import Service

_FIRST_MESSAGES = 10_000  # bytes of one message of somebody who is not known yet


async def start_connection(
    channel: Channel, service: Service, tls: ssl.SSLContext | None, settings: SessionSettings
) -> Identity:
    """Who it is; ``settings`` are set as the client begins with them."""
    for _ in range(3):  # a client may ask for GSS, then for TLS, then begin
        body = await channel.read_first(_FIRST_MESSAGES)
        version = body.int32()
        if version == frames.CANCEL_REQUEST:
            raise Ended  # what is under way was paid for, and ends as it ends
        if version == frames.SSL_REQUEST and tls is not None:
            await channel.encrypt(tls)
        elif version in (frames.SSL_REQUEST, frames.GSS_REQUEST):
            await channel.send(b"N")
        elif version >> 16 != 3:
            raise state_error(
                "0A000", f"protocol {version >> 16}.{version & 0xFFFF} is not spoken here: 3.0 is"
            )
        elif tls is not None and not channel.encrypted:
            raise state_error("28000", "this server takes encrypted connections only: sslmode=require")
        else:
            return await _log_in(channel, service, _read_pairs(body), version & 0xFFFF, settings)
    raise FrameError("a connection begins with at most two requests for encryption")


async def _log_in(
    channel: Channel, service: Service, pairs: dict[str, str], minor: int, settings: SessionSettings
) -> Identity:
    if minor:
        await channel.send(frame(b"v", struct.pack("!ii", 3 << 16, 0)))
    name = pairs.get("user", "")
    if not name:
        raise state_error("28000", "no user was named")
    for setting, value in _read_options(pairs).items():
        settings.set(setting, value)
    await channel.send(frame(b"R", struct.pack("!i", 10) + text(scram.MECHANISM) + b"\0"))
    body = await _password_message(channel)
    mechanism, first = body.text(), body.value()
    if mechanism != scram.MECHANISM or first is None:
        raise FrameError(f"{scram.MECHANISM} is the way to log in")
    try:
        exchange = scram.begin(first, service.tokens.salt(name))
        await channel.send(frame(b"R", struct.pack("!i", 11) + exchange.answer.encode()))
        proof = (await _password_message(channel)).content
        known = service.tokens.verifiers(name) if service.attempts.open_for(channel.address, name) else []
        place, signature = scram.finish(exchange, proof, [keys for _, keys in known])
    except scram.ScramError:
        await service.reject(channel.address, name, "pgwire")
        raise UnknownTokenError from None
    identity = known[place][0]
    await service.enter(identity, "pgwire")
    await channel.send(
        frame(b"R", struct.pack("!i", 12) + signature.encode()) + frame(b"R", struct.pack("!i", 0))
    )
    return identity


async def _password_message(channel: Channel) -> MessageBody:
    letter, body = await channel.read(_FIRST_MESSAGES)
    if letter != b"p":
        raise FrameError("a password message was expected")
    return body


def _read_pairs(body: MessageBody) -> dict[str, str]:
    pairs: dict[str, str] = {}
    while body.place < len(body.content) - 1:
        name = body.text()
        pairs[name] = body.text()
    return pairs


def _read_options(pairs: dict[str, str]) -> dict[str, str]:
    """Settings of the start-up message, and those of its ``options``: ``-c sordino.epsilon=0.1``."""
    settings = {
        name: value
        for name, value in pairs.items()
        if name not in ("user", "database", "options", "replication")
    }
    words = pairs.get("options", "").replace("\\ ", "\0").split()
    for place, word in enumerate(words):
        given = words[place + 1] if word == "-c" and place + 1 < len(words) else word.removeprefix("-c")
        given = given.removeprefix("--").replace("\0", " ")
        name, equals, value = given.partition("=")
        if word.startswith("-") and equals:
            settings[name] = value
    return {name: value for name, value in settings.items() if not name.startswith("_pq_.")}
