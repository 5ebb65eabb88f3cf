"""One server per file of tests; a test that breaks its server makes its own."""

import pytest

from tests.e2e.server.serving import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running
