# SPDX-License-Identifier: Apache-2.0
"""The planner's core: a group and a snapshot to a plan, or to reasons.

Other packages import the modules of ``__all__`` and no other: the rest may be
rebuilt at any time.
"""

__all__ = ('alternates', 'backend', 'check', 'explain', 'observer',
           'one_more', 'settings',
           'solve')
