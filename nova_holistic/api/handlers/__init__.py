# SPDX-License-Identifier: Apache-2.0
"""Handlers: one module per noun, one function per route."""
