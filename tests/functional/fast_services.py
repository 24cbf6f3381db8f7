# SPDX-License-Identifier: Apache-2.0
"""Removes work that Nova and Placement repeat for each request, and that does
not change their answers. Only tests use it: benchmarks measure Nova and
Placement as they are installed."""

from nova import policy
from placement import policy as placement_policy

from tests.functional.fast_placement import FastPlacement
from tests.functional.kept_validators import KeptValidators


class FastServices(FastPlacement):
    """While it is active, Nova also keeps its validators."""

    def _setUp(self):
        super()._setUp()
        self.useFixture(KeptValidators())


def keep_policies():
    """Prevent the services of this process, which have started, from searching
    for files of policies in each request."""
    for each in (policy, placement_policy):
        if each._ENFORCER is not None:
            each._ENFORCER.use_conf = False
