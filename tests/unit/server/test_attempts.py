"""How fast tokens may be tried."""

from sordino.server.attempts import Allowance, Attempts


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_burst_then_so_many_per_second():
    clock = Clock()
    allowance = Allowance(3, 2.0, clock)
    assert [allowance.take("a") for _ in range(5)] == [True, True, True, False, False]
    assert allowance.take("b")
    clock.now += 1.0
    assert [allowance.take("a") for _ in range(3)] == [True, True, False]


def test_memory_is_bounded():
    allowance = Allowance(1, 0.0, Clock())
    for number in range(30_000):
        allowance.take(number)
    assert len(allowance._left) <= 10_000


def test_wrong_tries_close_the_door_for_that_name_and_later_for_the_address():
    clock = Clock()
    attempts = Attempts(clock)
    for _ in range(10):
        assert attempts.open_for("here", "ann")
        attempts.failed("here", "ann")
    assert not attempts.open_for("here", "ann")
    assert attempts.open_for("here", "bob")
    assert attempts.open_for("there", "ann")
    for number in range(95):
        attempts.failed("here", str(number))
    assert not attempts.open_for("here", "bob")
    clock.now += 61
    assert attempts.open_for("here", "ann")
