# SPDX-License-Identifier: Apache-2.0
"""Storage pools and volume types, read from Cinder."""
