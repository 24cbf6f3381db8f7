# SPDX-License-Identifier: Apache-2.0
"""The modules of all processes of these tests, imported once."""

import sys

from nova_holistic import objectives, policies
from tests.compiled_table import compile_statements
from tests.services.crash import operations  # noqa: F401
from tools import garbage

PATH = list(sys.path)
"""The module path of this process. With another path, stevedore would search
for entry points again."""

# Search for entry points on the disk once per process.
policies.load_policy_types()
objectives.load_objective('spread')
compile_statements()
garbage.search_less()
