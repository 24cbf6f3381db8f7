# SPDX-License-Identifier: Apache-2.0
"""Tools for the development and the tests of the project."""
