// SPDX-License-Identifier: Apache-2.0

/// A command as JSON: its name, and arguments that are not checked yet. A field that the command does not have is nil.
package struct CommandDocument: Codable, Equatable, Sendable {
    /// A beat that is not checked yet.
    package struct CountIn: Codable, Equatable, Sendable {
        /// Beats a minute.
        package var bpm: Double
        /// Beats in a bar.
        package var bar: Int
    }

    /// The name of a `LiveCallCommand.Kind`; or `status` or `watch` on a socket.
    package var command: String
    /// The version of the protocol that the sender uses; nil if it does not say so.
    package var protocolVersion: Int?
    /// The number of the last known event.
    package var after: UInt64?
    /// The number of a participant.
    package var participant: UInt64?
    /// The number of a join request.
    package var request: UInt64?
    package var name: String?
    package var admission: String?
    package var isMuted: Bool?
    package var isHeard: Bool?
    /// The gain, a factor.
    package var volume: Float?
    package var dial: String?
    package var codec: String?
    /// The milliseconds of an Opus packet.
    package var frameMs: Double?
    /// The microphone and the loudspeaker, by id, name or a unique part of it.
    package var input: String?
    package var output: String?
    /// The mode of voice processing or of the monitor.
    package var mode: String?
    package var isOn: Bool?
    /// The texts of effects.
    package var effects: [String]?
    /// The number or the name of an effect.
    package var effect: String?
    /// The name of an effect's parameter.
    package var parameter: String?
    /// The value of an effect's parameter.
    package var value: String?
    /// The absolute path of a recording's folder.
    package var folder: String?
    package var isAllowed: Bool?
    /// The absolute paths of an accompaniment's files.
    package var files: [String]?
    /// The name of an `AccompanimentControl`.
    package var control: String?
    /// The position in a file.
    package var seconds: Double?
    package var isForAll: Bool?
    package var text: String?
    /// The absolute path of a file.
    package var path: String?
    /// The beat of a song's count-in.
    package var beat: CountIn?

    private enum CodingKeys: String, CodingKey {
        case protocolVersion = "protocol"
        case command, after, participant, request, name, admission, isMuted, isHeard, volume, dial, codec,
            frameMs, input, output, mode, isOn, effects, effect, parameter, value, folder, isAllowed, files, control,
            seconds, isForAll, text, path, beat
    }

    /// Creates a command without arguments.
    package init(command: String) { self.command = command }
}
