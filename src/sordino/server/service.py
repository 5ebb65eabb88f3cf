"""Service: the one way from a protocol to the curator. HTTP, PostgreSQL and Flight are three ways of speaking to it."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sordino.core import SordinoError
from sordino.core.errors import BusyError, UnknownTokenError
from sordino.core.json_form import DEFECT
from sordino.curator import Curator, Session
from sordino.ledger import Ledger
from sordino.server.attempts import Allowance, Attempts
from sordino.server.identity import Identity
from sordino.server.journal import Journal
from sordino.server.log import log
from sordino.server.settings import Settings
from sordino.server.tokens import Tokens

Result = TypeVar("Result")


class Service:
    """What a server holds: the owner's curator, who may ask, and how fast.

    **What leaves** is what a `Session` gives: paid releases, and what is public. The owner's questions (`explain`,
    accounts) need the owner's token. **When**: where the policy has ``answer_every``, an answer that was paid for, or
    its failure, leaves at a multiple of that time after it was asked, so how long the engine took is told in
    these steps only. A client that goes away does not stop its question: what was paid for is stored, and ``reuse``
    finds it.
    """

    def __init__(
        self, curator: Curator, ledger: Ledger, tokens: Tokens, journal: Journal, settings: Settings
    ) -> None:
        self.curator, self.ledger, self.tokens = curator, ledger, tokens
        self.journal, self.settings = journal, settings
        self.attempts = Attempts()
        self._rate = Allowance(10 * settings.rate, settings.rate)
        self._threads = ThreadPoolExecutor(settings.workers, thread_name_prefix="question")
        self._free = ThreadPoolExecutor(settings.workers, thread_name_prefix="free")
        self._checks = ThreadPoolExecutor(2, thread_name_prefix="token")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._under_way: Counter[str] = Counter()  # by token
        self._looking = asyncio.Lock()
        self._looked = (-math.inf, False)
        self.closing = False

    # -- who asks --------------------------------------------------------------------------------------------------

    async def identify(self, token: str | None, address: str, protocol: str) -> Identity:
        """Who a token speaks for, or UnknownTokenError."""
        name = (token or "")[:12]  # the part that is not secret
        if not self.attempts.open_for(address, name):
            raise UnknownTokenError
        loop = asyncio.get_running_loop()
        identity = await loop.run_in_executor(self._checks, self.tokens.check, token)
        if identity is None:
            await self.reject(address, name, protocol)
            raise UnknownTokenError
        return identity

    async def reject(self, address: str, name: str, protocol: str) -> None:
        """Somebody showed no valid token."""
        if not self.attempts.open_for(address, name):
            return  # what comes to a closed door is not written down, or a flood would fill the disk
        self.attempts.failed(address, name)
        await self.write_down("rejected", protocol=protocol, address=address, claimed=name[:100])
        log("rejected", protocol=protocol, address=address)

    async def enter(self, identity: Identity, protocol: str) -> None:
        """Somebody logs in; who does so too often must wait."""
        self._admit(identity)
        await self.write_down("login", protocol=protocol, analyst=identity.name, token=identity.token)

    async def write_down(self, event: str, **facts: Any) -> None:
        """A line of the journal."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._checks, lambda: self.journal.write(event, **facts))

    def session(self, identity: Identity) -> Session:
        """The questions of whoever asks."""
        return self.curator.session(identity.name)

    # -- what is asked ---------------------------------------------------------------------------------------------

    async def ask(
        self,
        identity: Identity,
        protocol: str,
        act: str,
        work: Callable[[], Result],
        *,
        paid: bool = False,
        **facts: Any,
    ) -> Result:
        """Do one thing for somebody in a thread, and write down who asked for what and how it ended.

        ``paid``: it may cost something, so it is written down before it begins, and its time is padded.
        """
        self._admit(identity)
        self._under_way[identity.token] += 1
        told = {"analyst": identity.name, "token": identity.token, "protocol": protocol, **facts}
        task = asyncio.create_task(self._carry_out(act, work, told, paid))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Shielded: a question that is under way ends as it ends, whoever still waits for it.
        result, error = await asyncio.shield(task)
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    async def _carry_out(
        self, act: str, work: Callable[[], Result], told: dict[str, Any], paid: bool
    ) -> tuple[Result | None, Exception | None]:
        loop = asyncio.get_running_loop()
        begun = time.monotonic()
        try:
            if paid:
                await loop.run_in_executor(self._checks, lambda: self.journal.write(act, **told))
            # What is free never waits behind what reads rows: its time would tell how long that took.
            threads = self._threads if paid or act == "explain" else self._free
            result, error = await loop.run_in_executor(threads, _caught, work)
            code = "done" if error is None else getattr(error, "code", DEFECT)
            if paid or act in OWNERS_ACTS:
                ended = f"{act} ended"
                await loop.run_in_executor(
                    self._checks, lambda: self.journal.write(ended, **told, outcome=code)
                )
            if paid:
                await self._pad(begun)
            log(act, protocol=told["protocol"], analyst=told["analyst"], outcome=code)
            return result, error
        except SordinoError as error:  # the journal cannot be written
            return None, error
        finally:
            # After the padding, since who is refused for it learns of it.
            self._under_way[told["token"]] -= 1
            self._under_way += Counter()  # who has none under way is forgotten

    def _admit(self, identity: Identity) -> None:
        if self.closing:
            raise BusyError("the server is stopping; nothing was paid: ask again in a while")
        if not self.tokens.still_valid(identity):
            raise UnknownTokenError
        if not self._rate.take(identity.token):
            raise BusyError(
                f"more than {self.settings.rate:g} requests per second with one token; nothing was paid: ask again "
                "in a while"
            )
        places = self.settings.workers + self.settings.waiting
        if self._under_way.total() >= places or self._under_way[identity.token] >= max(1, places // 2):
            raise BusyError("too many questions are waiting; nothing was paid: ask again in a while")

    async def _pad(self, begun: float) -> None:
        step = self.curator.policy.answer_every
        if step is not None:
            passed = time.monotonic() - begun
            await asyncio.sleep(math.ceil(passed / float(step)) * float(step) - passed)

    # -- how it goes -----------------------------------------------------------------------------------------------

    async def ready(self) -> bool:
        """Whether questions can be answered: the ledger and the engine are there. Asked at most once per second."""
        async with self._looking:
            if time.monotonic() - self._looked[0] > 1:
                found = await asyncio.get_running_loop().run_in_executor(self._free, self._look)
                self._looked = time.monotonic(), found
        return self._looked[1] and not self.closing

    def _look(self) -> bool:
        try:
            self.ledger.cap(self.curator.policy.dataset)
            self.curator.data.engine.catalogue()
        except SordinoError:
            return False
        return True

    async def stop(self, patience: float = 30.0) -> None:
        """Take no more, and wait for what is under way."""
        self.closing = True
        until = time.monotonic() + patience
        while self._under_way.total() and time.monotonic() < until:
            await asyncio.sleep(0.05)
        idle = not self._under_way.total()
        self._threads.shutdown(wait=idle, cancel_futures=True)
        self._free.shutdown(wait=idle, cancel_futures=True)
        self._checks.shutdown(wait=True)


OWNERS_ACTS = frozenset({"explain", "grant", "revoke", "resume"})


def _caught(work: Callable[[], Result]) -> tuple[Result | None, Exception | None]:
    """An error is a value until its time has come."""
    try:
        return work(), None
    except Exception as error:
        return None, error
