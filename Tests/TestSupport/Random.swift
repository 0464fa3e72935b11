// SPDX-License-Identifier: Apache-2.0

/// Tests of layers that do not import AudioBase also use it.
@_exported import struct EarshotAudioBase.SeededRandom
