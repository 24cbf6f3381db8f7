# SPDX-License-Identifier: Apache-2.0
from tests.unit.table.test_refused_claims import *  # noqa: F401, F403
