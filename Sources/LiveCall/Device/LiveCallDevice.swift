// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession

/// The sound device of a ``LiveCall``. ``close()`` is called on any thread that may wait. ``description``, ``events`` and
/// ``use(input:output:)`` are used on any thread, all other members on the call's thread.
package protocol LiveCallDevice: Sendable {
    /// The current description of the device.
    var description: CallDevice { get }
    /// Route changes and interruptions, for one reader. Ends with ``close()``.
    var events: AsyncStream<AudioSessionEvent> { get }
    /// The reason that the device does not run, and the time since when; nil while it runs.
    var interruption: (kind: Interruption, since: HostTime)? { get }
    /// Frames per block of the hardware, which may differ from the device's.
    var hardwareBlockFrameCount: Int { get }
    /// Moves the sound to other devices, found by name; nil for the system's default.
    func use(input: String?, output: String?) throws(AudioDeviceError)
    /// Called once before the device starts.
    /// - Throws: an error that the implementation keeps. The call ends with ``LiveCallEnding/notPrepared``.
    func prepare() throws
    /// Called some 20 times a second while the device runs.
    func update()
    /// Called after the call has ended and the device was stopped.
    func close()
}
