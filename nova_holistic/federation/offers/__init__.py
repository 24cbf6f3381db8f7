# SPDX-License-Identifier: Apache-2.0
"""Which child is asked for what, and in which order."""
