"""Every broken mechanism is refused by its auditor, and its repaired control is not.

Two of the verdicts rest on samples (20 000 runs per database). The control is refuted by chance with probability
at most 1e-6. The broken one is missed only if an event of probability 0.13 against less than 1e-3 fails to show
in 5 000 runs, which is far less likely still. All other verdicts are exact.
"""

import pytest

from sordino.audit.zoo import specimens


@pytest.mark.parametrize("specimen", specimens(), ids=lambda specimen: specimen.name)
def test_the_broken_mechanism_is_refused(specimen):
    verdict = specimen.refute()
    assert verdict.holds is False, str(verdict)


@pytest.mark.parametrize("specimen", specimens(), ids=lambda specimen: specimen.name)
def test_the_repaired_control_is_accepted(specimen):
    verdict = specimen.repaired()
    assert verdict.holds is True, str(verdict)
