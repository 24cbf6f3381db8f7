# SPDX-License-Identifier: Apache-2.0
"""Alternates: other hosts on which members can be built."""
