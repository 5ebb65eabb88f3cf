"""What parties say, as it is heard."""

import io
import queue
from types import SimpleNamespace

from sordino.logs.parties import _Parties


def test_half_a_line_is_the_end_of_a_party():
    listener = SimpleNamespace(_said=queue.Queue())
    _Parties._read(listener, 2, io.BytesIO(b'{"done": 1}\n{"resu'))
    assert [listener._said.get_nowait() for _ in range(2)] == [(2, {"done": 1}), (2, None)]
