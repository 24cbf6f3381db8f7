# SPDX-License-Identifier: Apache-2.0
"""Checks of a request before the engine receives it: rights, quotas, and the
keys that the document contains."""
