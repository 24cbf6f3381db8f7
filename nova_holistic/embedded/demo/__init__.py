# SPDX-License-Identifier: Apache-2.0
"""Creates one group on a nearly full cloud with stock Nova, and then with a
joint plan."""
