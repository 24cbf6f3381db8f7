# SPDX-License-Identifier: Apache-2.0
"""Other limits for a part of a test."""

import contextlib
from dataclasses import replace

from nova_holistic.solver.limits.current import limits, using


@contextlib.contextmanager
def limited(section, **values):
    """Some limits of a section have these values inside the block."""
    with using(replace(limits(), **{
            section: replace(getattr(limits(), section), **values)})):
        yield
