# SPDX-License-Identifier: Apache-2.0
"""Constraints of Nova's scheduler other than capacity, which plans take into
account.

Each filter of Nova that can be planned for is one module here with a function
``judge``, and one line in ``table``. No module here imports nova.
"""
