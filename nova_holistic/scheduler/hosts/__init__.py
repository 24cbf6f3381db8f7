# SPDX-License-Identifier: Apache-2.0
"""Nova's hosts as the scheduler reads and caches them."""
