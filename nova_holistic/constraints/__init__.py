# SPDX-License-Identifier: Apache-2.0
"""Constraints of Nova's scheduler other than capacity, which plans take into
account.

Each filter of Nova that plans support is one module of ``filters`` with a
function ``host_check``, and one line in ``filter_table``. No module here
imports nova.
"""
