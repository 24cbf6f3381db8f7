# SPDX-License-Identifier: Apache-2.0
"""The key ``server`` of a member, and Nova's create requests."""
