# SPDX-License-Identifier: Apache-2.0
"""The phases of a solution: each calls the sub-packages for one kind of group,
and returns a plan or a bound to ``solve``."""
