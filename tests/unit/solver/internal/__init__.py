# SPDX-License-Identifier: Apache-2.0
"""Tests of modules of the solver that only the solver imports.

A new implementation of the solver replaces this folder, but no other tests.
"""
