# SPDX-License-Identifier: Apache-2.0
from tests.unit.table.test_member_moves import *  # noqa: F401, F403
