# SPDX-License-Identifier: Apache-2.0
"""What a parent knows about its children without asking them."""
