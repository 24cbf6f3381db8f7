# SPDX-License-Identifier: Apache-2.0
"""Different limits for a part of a test."""

import contextlib
from dataclasses import replace

from nova_holistic.solver.limits.current import limits, using


@contextlib.contextmanager
def limited(section, **values):
    """Set limits of one section inside the block."""
    with using(replace(limits(), **{
            section: replace(getattr(limits(), section), **values)})):
        yield
