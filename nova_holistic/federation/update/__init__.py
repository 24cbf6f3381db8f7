# SPDX-License-Identifier: Apache-2.0
"""Changes of groups whose parts exist in children."""
