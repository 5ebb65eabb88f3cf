"""Ledger: durable budgets. What is not written here first is not released."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sordino.core import (
    Distance,
    Guarantee,
    LedgerError,
    ParameterError,
    SuspendedError,
    check_distance,
)
from sordino.core.closing import Closing
from sordino.core.parameters import non_negative
from sordino.ledger.account import Account
from sordino.ledger.anchor import Anchor, check_chain
from sordino.ledger.chain import ChainLink
from sordino.ledger.composition import Amount
from sordino.ledger.declared import declare
from sordino.ledger.event import Event, read_distance, write_canonical_json, write_distance_key
from sordino.ledger.limit import Limit
from sordino.ledger.payment import pay
from sordino.ledger.place import open_storage
from sordino.ledger.records import (
    CAP,
    REVOKED,
    append_event,
    charge,
    end_reservation,
    find_account,
    find_granted_account,
    find_known_account,
    find_open_reservation,
    find_reservation,
    fix_distance,
    read_events,
    read_reserved_loss,
    set_limit,
)
from sordino.ledger.replay import find_disorder, list_accounts, replay_account
from sordino.ledger.reservation import Reservation, StoredRelease
from sordino.ledger.storage import Storage
from sordino.ledger.store import Store
from sordino.ledger.suspension import SUSPENSION_NOTICE, find_dead_reservations, settle
from sordino.ledger.tables import declare_tables, read_tables, redeclare_table

_LONGEST_NAME = 200


class Ledger(Closing):
    """Budgets per data set and analyst, a cap per data set over all analysts, and every release that was paid for.

    **Guarantee**: at any moment, whatever crashed, the releases of an account together cost at most the limit that
    stood when the last of them was paid for, and all releases of a data set at most its cap of then, under adaptively
    chosen questions and budgets (`composition.py`). A limit that is lowered below what was spent takes nothing back.
    A loss is per unit of the data set's one `Distance`; another Distance is refused.
    **Requires**: that answers leave only through `spend` (or `Reservation.commit`), that every release of a data
    set goes to the same ledger, and that it is not replaced by an older copy (`verify` with an anchor finds that).
    **How**: reserve → produce → commit → hand out, each step durable before the next. A crash in between wastes
    budget and never returns it; a question that ends without a release suspends its account until the owner resumes it.
    **Numerics**: amounts are exact fractions of the decimals that were written; 0.1 ten times is 1.

    Stored releases belong to the analyst who paid: another analyst who asks the same pays too. Else the second
    account would not bound what its analyst knows.

    >>> import sordino as sd
    >>> from sordino.ledger import Ledger, Limit
    >>> guarantee = sd.Guarantee(sd.Loss(epsilon=0.5), sd.add_remove_row(), "Laplace mechanism")
    >>> ledger = Ledger.in_memory()
    >>> account = ledger.grant("shop", "ann", Limit.of(epsilon=2), distance=guarantee.distance)
    >>> paid = ledger.spend("shop", "ann", guarantee, "how many?", lambda: {"value": 41}, mechanism="laplace")
    >>> print(paid.content, ledger.account("shop", "ann"))
    {'value': 41} epsilon 1.5 left of epsilon 2
    """

    def __init__(self, store: Storage) -> None:
        self._store = store
        self._holders: dict[Reservation, str] = {}  # of the reservations made here that have not ended

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, create: bool = True, patience: float = 10.0, write: bool = True
    ) -> Ledger:
        """The ledger in a file, or in a database such as ``postgresql://user@host/database``; made if ``create``.

        It waits ``patience`` seconds for other processes. Without ``write`` it can be looked at, also by those who may
        not write to it. A file needs a local file system: the locks of network file systems are not reliable.
        """
        waits = non_negative("patience", patience)
        return cls(open_storage(path, create=create and write, patience=waits, write=write))

    @classmethod
    def in_memory(cls) -> Ledger:
        """A ledger that ends with this process and still enforces its limits; refused in forked children."""
        return cls(Store(None, create=True, patience=10.0))

    def close(self) -> None:
        """Close the file or the connection."""
        self._store.close()

    def __repr__(self) -> str:
        return f"<{self._store}>"

    def __reduce__(self) -> tuple[Callable[[str, bool], Ledger], tuple[str, bool]]:
        if self._store.address is None:
            raise LedgerError(
                f"{self._store} stays in the process that made it: use Ledger.open(path) in the other one"
            )
        return _reopen, (self._store.address, self._store.write)

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        """A copy would be the same budgets: what holds a ledger and is copied shares it."""
        return self

    # -- the owner grants ------------------------------------------------------------------------------------------

    def grant(self, dataset: str, analyst: str, limit: Limit, *, distance: Distance | None = None) -> Account:
        """Set what an analyst may spend in all on a data set; what was spent stays spent.

        Saying the same again changes nothing. A limit below what was spent leaves nothing.
        """
        return self._set_limit(_name("dataset", dataset), _name("analyst", analyst), limit, distance)

    def revoke(self, dataset: str, analyst: str) -> Account:
        """Take an analyst's budget back: nothing more may be spent, and what was spent stays spent.

        A question that is under way was paid for and is answered. The budget stays gone until a grant, or a policy that
        says another number than before, gives one again. Revoking what is gone changes nothing.
        """
        _name("dataset", dataset), _name("analyst", analyst)
        with self._store.transaction() as connection:
            present = find_known_account(connection, dataset, analyst)
            if present.withdrawn:
                return present
            return set_limit(connection, dataset, analyst, present.limit.nothing(), scope=REVOKED)

    def set_cap(self, dataset: str, limit: Limit, *, distance: Distance | None = None) -> Account:
        """Set what all analysts together may spend on a data set; everything already spent on it counts."""
        return self._set_limit(_name("dataset", dataset), CAP, limit, distance)

    def _set_limit(self, dataset: str, analyst: str, limit: Limit, distance: Distance | None) -> Account:
        _limit(limit)
        with self._store.transaction() as connection:
            connection.execute("INSERT INTO datasets (dataset) VALUES (?) ON CONFLICT DO NOTHING", (dataset,))
            if distance is not None:
                fix_distance(connection, dataset, check_distance(distance))
            present = find_account(connection, dataset, analyst)
            if present is not None and present.limit == limit:
                return present
            return set_limit(connection, dataset, analyst, limit, distance=distance)

    def declare(
        self,
        dataset: str,
        budgets: Mapping[str, Limit],
        *,
        cap: Limit | None = None,
        distance: Distance,
        tables: Mapping[str, str] | None = None,
    ) -> None:
        """Apply the budgets and the cap of a policy, all or nothing, as far as they are news (`declared.py`).

        ``tables``: what the policy says of each table, "private", "view" (a private one) or "public". What would make
        an earlier guarantee false is refused (`tables.py`).
        """
        limits = {_name("analyst", analyst): _limit(limit) for analyst, limit in budgets.items()}
        if cap is not None:
            limits[CAP] = _limit(cap)
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT INTO datasets (dataset) VALUES (?) ON CONFLICT DO NOTHING",
                (_name("dataset", dataset),),
            )
            asked = fix_distance(connection, dataset, check_distance(distance))
            if tables is not None:
                declare_tables(connection, dataset, tables)
            declare(connection, dataset, limits, distance=distance, asked=asked)
            self._reached("declared")

    def redeclare(self, dataset: str, table: str, kind: str) -> None:
        """Record that a table is "private", "view" or "public" from now on, whatever it was: the owner's act.

        The guarantees given before do not cover its rows as those given from now on do.
        """
        with self._store.transaction() as connection:
            redeclare_table(connection, _name("dataset", dataset), table, kind)

    def resume(self, dataset: str, analyst: str) -> Account:
        """Lift the suspension of an account: the owner's act, after looking at what failed.

        Every suspension and every act that lifts one stays in the record. An account that is open stays as it is.
        """
        _name("dataset", dataset), _name("analyst", analyst)
        with self._store.transaction() as connection:
            find_known_account(connection, dataset, analyst)
            if settle(connection, self._store.alive, dataset, analyst):
                append_event(connection, kind="resume", dataset=dataset, analyst=analyst)
            account = find_account(connection, dataset, analyst)
        if account is None or account.suspended:
            raise LedgerError(f"{self._store}: the account of {analyst!r} could not be resumed")
        return account

    # -- an answer is paid for -------------------------------------------------------------------------------------

    def spend(
        self,
        dataset: str,
        analyst: str,
        guarantee: Guarantee,
        question: str,
        produce: Callable[[], Mapping[str, Any]],
        *,
        reuse: bool = False,
        mechanism: str = "",
        parameters: Mapping[str, Any] | None = None,
        scope: str = "",
    ) -> StoredRelease:
        """Pay, then draw, then store, then return: the only order in which a value may leave.

        ``produce`` draws the answer and returns it as plain data (`Release.to_dict`). If it raises, the budget stays
        spent and the account is suspended (`suspension.py`), unless it raises `NothingReleased`. With ``reuse`` a
        question that this analyst has paid for is answered from the store. A suspended account gets neither.
        """
        self.refuse_suspended(dataset, analyst)
        if reuse and (known := self.stored(dataset, analyst, question)) is not None:
            return known
        with self.reserve(
            dataset,
            analyst,
            guarantee,
            question=question,
            mechanism=mechanism,
            parameters=parameters,
            scope=scope,
        ) as reservation:
            return reservation.commit(produce())

    def convert(self, dataset: str, guarantee: Guarantee) -> Guarantee:
        """The guarantee per unit of the data set's own Distance, which is what its accounts count in.

        What is private for one row added or removed is private for one replaced at twice the loss; every other
        difference is refused when the loss is reserved. A data set that has no Distance yet takes this one.
        """
        with self._store.reading() as connection:
            row = connection.execute(
                "SELECT distance FROM datasets WHERE dataset = ?", (_name("dataset", dataset),)
            ).fetchone()
        if row is None or row[0] is None:
            return guarantee
        wanted = read_distance(row[0])
        replaced = replace(guarantee.distance, change="replace")
        if guarantee.distance.change == "add_remove" and write_distance_key(replaced) == write_distance_key(
            wanted
        ):
            return guarantee.for_replacement()
        return guarantee

    def reserve(
        self,
        dataset: str,
        analyst: str,
        guarantee: Guarantee,
        *,
        question: str,
        mechanism: str = "",
        parameters: Mapping[str, Any] | None = None,
        scope: str = "",
    ) -> Reservation:
        """Subtract the cost durably, from the analyst's account and from the data set's cap, or raise BudgetError.

        SuspendedError, of that kind, if a question of the account failed and the owner has not resumed it since.
        """
        _name("dataset", dataset), _name("analyst", analyst)
        if not isinstance(guarantee, Guarantee):
            raise ParameterError(f"guarantee must be a Guarantee, got {type(guarantee).__name__}")
        if not isinstance(question, str) or not question:
            raise ParameterError(
                "question must be a text that is the same for the same question: see write_question_key"
            )
        fields = {
            "mechanism": mechanism or None,
            "parameters": None
            if parameters is None
            else write_canonical_json("parameters", dict(parameters)),
            "scope": scope or None,
            "question": question,
        }
        alive, holder = self._store.alive, None
        try:
            with self._store.transaction() as connection:
                self._reached("reserving")
                suspended = settle(connection, alive, dataset, analyst)
                if not suspended:
                    holder = alive.hold()  # before the reservation is there: who finds it open finds it held
                    number = pay(connection, dataset, analyst, guarantee, holder, **fields)
                    self._reached("reserve written")
        except BaseException:
            alive.let_go(holder)
            raise
        if suspended or holder is None:
            raise SuspendedError(SUSPENSION_NOTICE)
        reservation = Reservation(self, number, dataset, analyst, guarantee)
        self._holders[reservation] = holder
        try:
            self._reached("reserved")
        except BaseException:  # nobody will hold this reservation: it has failed
            self._fail(reservation)
            raise
        return reservation

    def refuse_suspended(self, dataset: str, analyst: str) -> None:
        """Raise SuspendedError if the account is suspended; whose process died is written down first."""
        with self._store.transaction() as connection:
            suspended = settle(connection, self._store.alive, dataset, analyst)
        if suspended:
            raise SuspendedError(SUSPENSION_NOTICE)

    def stored(self, dataset: str, analyst: str, question: str) -> StoredRelease | None:
        """The latest release of this question that this analyst has paid for."""
        with self._store.reading() as connection:
            row = connection.execute(
                "SELECT release, number, time FROM events WHERE kind = 'commit' AND dataset = ? AND analyst = ? "
                "AND question = ? ORDER BY number DESC LIMIT 1",
                (dataset, analyst, question),
            ).fetchone()
        return None if row is None else StoredRelease(json.loads(row[0]), row[1], row[2], reused=True)

    def _commit(self, reservation: Reservation, release: Mapping[str, Any]) -> StoredRelease:
        text = write_canonical_json("a release", dict(release), in_order=True)
        self._reached("produced")
        with self._store.transaction() as connection:
            reserved = find_open_reservation(connection, reservation)
            who = reserved["dataset"], reserved["analyst"]
            suspended = settle(connection, self._store.alive, *who, but=reserved["number"])
            if suspended:
                end_reservation(connection, reserved, "suspend", scope="withheld")
            else:
                question = reserved["question"]
                number = end_reservation(connection, reserved, "commit", question=question, release=text)
                time = connection.execute("SELECT time FROM events WHERE number = ?", (number,)).fetchone()[0]
            self._reached("commit written")
        self._let_go(reservation, reserved)
        if suspended:
            raise SuspendedError(SUSPENSION_NOTICE)
        self._reached("committed")
        return StoredRelease(json.loads(text), number, time)

    def _refund(self, reservation: Reservation) -> None:
        with self._store.transaction() as connection:
            reserved = find_open_reservation(connection, reservation)
            for analyst in (reserved["analyst"], CAP):
                account = find_account(connection, reserved["dataset"], analyst)
                if account is not None:
                    cost = account.limit.cost(read_reserved_loss(reserved))
                    charge(connection, account, Amount() - cost)
            end_reservation(connection, reserved, "refund")
        self._let_go(reservation, reserved)

    def _fail(self, reservation: Reservation) -> bool:
        """Suspend the account of a reservation that has not ended; False if it was suspended by another before.

        If this cannot be written, the reservation counts as that of a process that died, from now on and everywhere.
        """
        try:
            with self._store.transaction() as connection:
                reserved = find_reservation(connection, reservation)
                if reserved["end"] is not None:
                    return True
                who = reserved["dataset"], reserved["analyst"]
                before = settle(connection, self._store.alive, *who, but=reserved["number"])
                end_reservation(connection, reserved, "suspend", scope="withheld" if before else "failure")
                self._reached("suspend written")
        except BaseException:
            self._store.alive.let_go(self._holders.pop(reservation, None))
            raise
        self._let_go(reservation, reserved)
        return not before

    def _let_go(self, reservation: Reservation, reserved: Mapping[str, Any]) -> None:
        self._holders.pop(reservation, None)
        self._store.alive.let_go(reserved["holder"])

    def _reached(self, point: str) -> None:
        """A seam for the crash tests, which end the process here."""

    # -- what it knows ---------------------------------------------------------------------------------------------

    def account(self, dataset: str, analyst: str) -> Account:
        """One analyst's account; BudgetError if nothing was granted."""
        with self._store.reading() as connection:
            account = find_granted_account(connection, dataset, analyst)
        return self._as_suspended([account])[0]

    def cap(self, dataset: str) -> Account | None:
        """The cap of a data set over all analysts: the owner's to know."""
        with self._store.reading() as connection:
            return find_account(connection, dataset, CAP)

    def accounts(self) -> list[Account]:
        """All accounts, the cap of a data set before its analysts."""
        with self._store.reading() as connection:
            rows = connection.execute(
                "SELECT dataset, analyst FROM accounts ORDER BY dataset, analyst"
            ).fetchall()
            found = [find_account(connection, *row) for row in rows]
        return self._as_suspended([account for account in found if account is not None])

    def _as_suspended(self, accounts: list[Account]) -> list[Account]:
        """The accounts with the suspensions that nobody has written down yet: somebody died.

        Who ends a reservation lets go of it after the end is written; so one that is not held is looked up again.
        """
        with self._store.reading() as connection:
            suspects = [
                {
                    number
                    for number, _ in find_dead_reservations(
                        connection, self._store.alive, account.dataset, account.analyst or CAP
                    )
                }
                for account in accounts
            ]
        if not any(suspects):
            return accounts
        with self._store.reading() as connection:
            still = {row[0] for row in connection.execute("SELECT number FROM unended").fetchall()}
        return [
            replace(account, suspended=account.suspended or bool(dead & still))
            for account, dead in zip(accounts, suspects, strict=True)
        ]

    def tables(self, dataset: str) -> dict[str, str]:
        """What policies, or the owner since, have said of each table: "private", "view" or "public"."""
        with self._store.reading() as connection:
            return read_tables(connection, dataset)

    def distance(self, dataset: str) -> str | None:
        """What the losses of a data set are counted per, as text; None while nothing has said it."""
        with self._store.reading() as connection:
            row = connection.execute(
                "SELECT distance_text FROM datasets WHERE dataset = ?", (dataset,)
            ).fetchone()
        return None if row is None else row[0]

    def history(self, dataset: str | None = None, analyst: str | None = None) -> list[Event]:
        """Every event in order, of one data set or one analyst if asked."""
        with self._store.reading() as connection:
            return read_events(connection, dataset, analyst)

    def anchor(self, last: Anchor | None = None) -> Anchor:
        """Number and hash of the last event, to be kept where who can write the ledger cannot; after `verify`."""
        return Anchor.of(self.verify(last))

    def verify(self, anchor: Anchor | None = None) -> ChainLink:
        """Check that every account is there and what its events make it, each payment within the limit that stood then.

        And that the events are a chain (`chain.py`): none was edited, removed or swapped by somebody who did not chain
        the rest anew. With an ``anchor`` that was taken before, nobody did: the ledger has grown since, and what it
        said then it says now. LedgerError if not; else the last link of the chain.
        """
        with self._store.reading() as connection:
            last = check_chain(connection, str(self._store), anchor)
            if (wrong := find_disorder(connection)) is not None:
                raise LedgerError(f"{self._store}: {wrong}")
            for dataset, analyst in list_accounts(connection):
                account = find_account(connection, dataset, analyst)
                if account != replay_account(connection, dataset, analyst):
                    whose = f"analyst {analyst!r}" if analyst else "the cap"
                    raise LedgerError(
                        f"{self._store}: the account of {whose} on data set {dataset!r} does not match its events"
                    )
        return last


def _reopen(path: str, write: bool) -> Ledger:
    return Ledger.open(path, create=False, write=write)


def _name(kind: str, value: Any) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > _LONGEST_NAME
        or not value.isprintable()
    ):
        raise ParameterError(
            f"{kind} must be a printable name of 1 to {_LONGEST_NAME} characters, got {value!r}"
        )
    return value


def _limit(value: Any) -> Limit:
    if not isinstance(value, Limit):
        raise ParameterError(f"limit must be a Limit such as Limit.of(epsilon=1), got {value!r}")
    return value
