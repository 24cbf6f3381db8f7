# SPDX-License-Identifier: Apache-2.0
"""What Nova's scheduler decides beside capacity, taken into account in plans.

Each filter of Nova that can be planned for is one module here with a function
``judge``, and one line in ``table``. No module here imports nova.
"""
