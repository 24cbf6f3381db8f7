# SPDX-License-Identifier: Apache-2.0
"""Settings of all parts of the solver: limits of size and effort, and shares
of the time limit."""
