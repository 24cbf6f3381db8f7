# SPDX-License-Identifier: Apache-2.0
"""Construction of plans without an integer program."""
