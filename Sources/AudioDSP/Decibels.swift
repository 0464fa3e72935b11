// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Converts decibels to a gain: 10^(dB / 20). Safe on the render thread.
@_noLocks
public func decibelsToGain(_ decibels: Float) -> Float { earshot_expf(decibels * 0.115_129_254_649_702) }

/// Converts a gain to decibels; −240 for 10^−12 and less. Safe on the render thread.
@_noLocks
public func gainToDecibels(_ gain: Float) -> Float { gain > 1e-12 ? earshot_logf(gain) * 8.685_889_638_065_035 : -240 }
