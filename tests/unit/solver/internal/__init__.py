# SPDX-License-Identifier: Apache-2.0
"""Tests of modules of the solver that nothing outside it imports.

A rebuild of the solver replaces this folder, and no other test.
"""
