# SPDX-License-Identifier: Apache-2.0
"""All that processes of these tests need, imported once for all of them."""

import gc
import sys

from nova_holistic import objectives, policies
from tests.services.crash import operations  # noqa: F401
import tests.unsynced_sqlite  # noqa: F401

PATH = list(sys.path)
"""Where this process looks for modules. stevedore searches for entry points
again if a process has another path."""

# Entry points are searched for on the disk once per process.
policies.load_policy_types()
objectives.load_objective('spread')
# Otherwise the garbage collector writes to every page that forks share.
gc.collect()
gc.freeze()
