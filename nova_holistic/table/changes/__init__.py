# SPDX-License-Identifier: Apache-2.0
"""Transactions that change groups and members, one module for each operation.
"""
