# SPDX-License-Identifier: Apache-2.0
"""Other hosts on which members can be built."""
