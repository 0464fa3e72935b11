# SPDX-License-Identifier: Apache-2.0
"""The rows of the table: which call, over which network, and what it must reach."""
from dataclasses import dataclass

from simulated import Call, Network

CLEAN = Network("none")
FIVE = Network("5 %", 0.05)
TEN = Network("10 %", 0.10)
BURSTS = Network("3 % in bursts of 2.5", 0.03, 2.5)


def opus(rate=24000, dial="talk", repair="all"):
    return Call(20.0, ("--codec", "opus", "--frame", 20, "--block", 240, "--bitrate", rate // 1000, "--dial", dial, "--repair", repair))


def pcm(repair="none", dial="talk"):
    return Call(2.5, ("--codec", "pcm", "--block", 120, "--dial", dial, "--repair", repair))


SHORT_OPUS = Call(2.5, ("--codec", "opus", "--frame", 2.5, "--block", 120, "--repair", "none"))
# Positions of the dial whose ceilings are 22 and 42 ms: packets that carry the one before, or two, and a little.
QUICK, MIDDLE = 0.114, 0.307


@dataclass(frozen=True)
class Row:
    """A call, and its limits; nil where it has none."""
    name: str
    call: Call
    network: Network
    pesq: float = 0
    added: float = 0  # milliseconds more than the same call without losses
    rate: float = 0  # kilobits a second
    check: bool = False  # whether --check has it too
    warm: float = 20  # seconds of each call before what is scored: redundancy and playout have settled


CALM = Row("nothing is lost", opus(), CLEAN)
SPEECH = [
    Row("Opus's own concealment", opus(repair="none"), FIVE),
    Row("Opus's in-band FEC at the total rate of a copy, 20 ms allowed", opus(50000, QUICK, "codec"), FIVE),
    Row("with redundancy, 20 ms allowed", opus(dial=QUICK), FIVE, 4.15, 20, 52, True),
    Row("with redundancy, dial at 'talk'", opus(), FIVE, 4.15, 20, 52),
    Row("Opus's own concealment", opus(repair="none"), TEN),
    Row("Opus's in-band FEC at the total rate of a copy, 20 ms allowed", opus(50000, QUICK, "codec"), TEN),
    Row("with redundancy, 20 ms allowed", opus(dial=QUICK), TEN, 3.8, 20, 52, True),
    Row("with redundancy, 40 ms allowed", opus(dial=MIDDLE), TEN, 4.15, 40, 76, True),
    Row("Opus's own concealment", opus(repair="none"), BURSTS),
    Row("Opus's in-band FEC at the total rate of a copy, 20 ms allowed", opus(50000, QUICK, "codec"), BURSTS),
    Row("with redundancy, 40 ms allowed", opus(dial=MIDDLE), BURSTS, 3.8, 40, 76, True, 45),
    Row("with redundancy, dial at 'talk': 80 ms", opus(), BURSTS, 4.0, 80, 76, True, 45),
]
CALM_PCM = Row("nothing is lost", pcm(), CLEAN)
PCM = [
    Row("PCM, as we conceal it", pcm(), FIVE, 3.0, 0.5, check=True),
    Row("Opus's concealment, packets of 2.5 ms", SHORT_OPUS, FIVE),
    Row("PCM with redundancy", pcm("all"), FIVE),
]
