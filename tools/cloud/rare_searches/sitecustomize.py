# SPDX-License-Identifier: Apache-2.0
"""Python imports this module at the start of each process whose PYTHONPATH
contains its folder, and the folder of the project."""

from tools import garbage

garbage.search_rarely()
