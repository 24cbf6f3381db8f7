# SPDX-License-Identifier: Apache-2.0
"""Inserts thousands of compute hosts into the databases of an embedded cloud.
"""
