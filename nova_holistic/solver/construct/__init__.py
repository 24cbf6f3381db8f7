# SPDX-License-Identifier: Apache-2.0
"""Plans that are built without an integer program."""
