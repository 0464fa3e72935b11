// SPDX-License-Identifier: Apache-2.0

/// Tests of layers that import no AudioBase draw from it too.
@_exported import struct EarshotAudioBase.SeededRandom
