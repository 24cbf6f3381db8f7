# SPDX-License-Identifier: Apache-2.0
"""Groups of annotated stacks, and the operations of Heat that change them."""
