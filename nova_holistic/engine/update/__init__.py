# SPDX-License-Identifier: Apache-2.0
"""Updates groups to revised definitions."""
