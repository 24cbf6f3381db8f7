# SPDX-License-Identifier: Apache-2.0
"""Handlers: one module a noun, one function a route."""
