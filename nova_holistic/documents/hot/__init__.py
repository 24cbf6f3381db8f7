# SPDX-License-Identifier: Apache-2.0
"""Heat templates with groups: their group document and their plain template.
"""
