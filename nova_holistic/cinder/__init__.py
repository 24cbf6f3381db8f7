# SPDX-License-Identifier: Apache-2.0
"""Inside cinder-scheduler: volumes of groups are created in their planned
pools, and other volumes do not use planned capacity.

Only this package imports cinder. Cinder and Nova cannot be in one process.
"""
