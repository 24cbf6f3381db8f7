# SPDX-License-Identifier: Apache-2.0
"""Which offers a parent requests of which child, and in which order."""
