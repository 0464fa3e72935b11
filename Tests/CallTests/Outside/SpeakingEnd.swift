// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotDiagnostics
import EarshotMediaTransport

@testable import EarshotCall

/// A call's end in real time on a simulated card: its microphone captures a known sound, and its loudspeaker's output is kept.
final class SpeakingEnd {
    static let rate = 48_000.0

    let session: CallSession
    let device: SimulatedDevice
    /// The sound at the microphone from the start on, at 48 kHz.
    let said: [Float]
    private let air: AudioRing
    private let room: AudioRing
    private(set) var heard: [Float] = []

    /// - Parameter seconds: the maximum length of the call.
    init(says said: [Float], seconds: Int, _ change: (inout CallPreferences) -> Void = { _ in }) throws {
        let block = 128
        self.said = said
        air = AudioRing(channelCount: 1, capacity: seconds * Int(Self.rate))
        room = AudioRing(channelCount: 1, capacity: seconds * Int(Self.rate))
        let sound = AudioBuffer(channelCount: 1, frameCapacity: max(1, said.count))
        for frame in said.indices { sound.channels[0][frame] = said[frame] }
        air.writer.write(sound.channels, frameCount: said.count)
        device = try SimulatedDevice(
            SimulatedCard.Configuration(
                sampleRate: Self.rate, blockFrameCount: block, source: air, sink: room))
        var preferences = CallPreferences(deviceRate: Self.rate, deviceBlock: block)
        change(&preferences)
        session = CallSession(preferences, device: device, cname: "end", voice: nil)
    }

    /// Reads the loudspeaker's output since the last call.
    func listen() {
        let block = AudioBuffer(channelCount: 1, frameCapacity: 4_800)
        while case let slice = room.reader.read(block.channels, frameCount: 4_800), slice.frameCount > 0 {
            heard.append(contentsOf: UnsafeBufferPointer(start: block.channels[0], count: slice.frameCount))
        }
    }

    var saidSignal: TimedSignal {
        TimedSignal(
            samples: said, sampleRate: Self.rate,
            firstFrameTime: device.card.firstInputFrameTime ?? HostTime(nanoseconds: 0))
    }
    var heardSignal: TimedSignal {
        listen()
        return TimedSignal(
            samples: heard, sampleRate: Self.rate,
            firstFrameTime: device.card.firstOutputFrameTime ?? HostTime(nanoseconds: 0))
    }
}

/// The similarity of a received sound: the share that was found again, and its correlation. Pieces of a fifth of a second are
/// compared, since playout stretches the sound a little while it finds its delay, which would reduce the correlation of longer
/// ones.
struct Similarity: CustomStringConvertible {
    private static let piece = 0.2
    /// The correlation of each piece with the sent sound, 0 to 1, from the first to the last that was found.
    private(set) var pieces: [Double] = []
    /// The delay of the received sound in milliseconds.
    private(set) var delay = 0.0
    /// The spread of the pieces' delays in milliseconds.
    private(set) var spread = 0.0

    /// Returns the seconds with at least this correlation. If a busy machine held a packet back, playout concealed it.
    func seconds(above least: Double) -> Double { Self.piece * Double(pieces.filter { $0 >= least }.count) }

    var description: String {
        "pieces alike by \(pieces.map { Double(Int($0 * 1_000)) / 1_000 }), delay \(delay) ms, spread \(spread) ms"
    }

    /// - Parameter reach: the maximum distance in seconds of a sound's position in `heard` from that in `said`.
    init(of heard: TimedSignal, with said: TimedSignal, within reach: Double) {
        var (heard, said) = (heard, said)
        said.firstFrameTime = HostTime(nanoseconds: 100_000_000_000)
        heard.firstFrameTime = said.firstFrameTime.advanced(bySeconds: reach)
        var options = DelayMeasurement.Options()
        options.searchRange = 0...2 * reach
        options.windowLength = Self.piece
        guard let found = try? DelayMeasurement(sent: said, heard: heard, options: options) else { return }
        // The first and the last window may be cut.
        var windows = found.windows
        while let first = windows.first, first.confidence < 0.5 { windows.removeFirst() }
        while let last = windows.last, last.confidence < 0.5 { windows.removeLast() }
        windows = Array(windows.dropFirst().dropLast())
        pieces = windows.map(\.confidence)
        delay = found.milliseconds - reach * 1e3
        let delays = windows.map(\.milliseconds)
        spread = (delays.max() ?? 0) - (delays.min() ?? 0)
    }
}
