# SPDX-License-Identifier: Apache-2.0
from tests.unit.table.test_expired_groups import *  # noqa: F401, F403
