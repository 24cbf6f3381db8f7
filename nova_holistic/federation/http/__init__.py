# SPDX-License-Identifier: Apache-2.0
"""Requests to children, and their answers as untrusted documents."""
