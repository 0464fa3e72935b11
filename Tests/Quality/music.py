# SPDX-License-Identifier: Apache-2.0
"""music.py REFERENCE DEGRADED: prints ViSQOL's MOS-LQO in audio mode, both at 48 kHz, channels averaged (visqol-python)."""

import sys

from visqol import VisqolApi


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    api = VisqolApi()
    api.create(mode="audio")
    print(f"{api.measure(sys.argv[1], sys.argv[2]).moslqo:.4f}")


if __name__ == "__main__":
    main()
