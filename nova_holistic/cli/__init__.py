# SPDX-License-Identifier: Apache-2.0

import warnings

# oslo.messaging imports oslo.service, which imports eventlet, and eventlet
# warns that it is deprecated. No code of this project uses it. Appended, so
# that -W and PYTHONWARNINGS take precedence.
warnings.filterwarnings(
    'ignore', r'\s*Eventlet is deprecated', append=True)
