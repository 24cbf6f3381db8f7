# SPDX-License-Identifier: Apache-2.0
from tests.unit.table.test_group_pages import *  # noqa: F401, F403
