// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport

/// A singer's JACK server with the dummy driver, and a musician on it (`JACKPerformer`) who plays a recorded track to the song that
/// the singer's program plays, and stays when the program ends.
final class JACKSinger {
    /// The folder of a song of Debian's package fretsonfire-songs-sectoid.
    static let songs = "/usr/share/games/fretsonfire/data/songs/sectoid/Feelings"
    static let rate = 44_100
    /// The reason that the musician did not start or end.
    struct MusicianFailure: Error { let description: String }
    /// The frames of a count-in of four beats.
    private static let countIn = 88_200
    /// The frames of the musician's latencies.
    private static let latency = 721

    let name: String
    /// The track from the beginning of the song on.
    let track: [Float]
    private let block: Int
    private let scratch: Scratch
    private let server: JACKServer
    private let performer: ChildProcess
    private var musician: String { "\(name)-musician" }

    /// Starts the server and the musician.
    /// - Parameter second: the second of the guitar's recording at which the track begins.
    convenience init(_ name: String, block: Int, from second: Int, seconds: Int, _ scratch: Scratch) throws {
        let track = try Self.read("\(Self.songs)/guitar.ogg", from: second, seconds: seconds)[0].map { $0 / 2 }
        try self.init(name, block: block, track: track, silence: Self.countIn, scratch)
    }

    /// Starts the server and a musician who talks from the start on, again and again.
    convenience init(talking name: String, block: Int, _ scratch: Scratch) throws {
        let speech = try RecordedSpeech.sentences.flatMap { try Self.read($0, seconds: 7)[0] }
        let ratio = Double(Self.rate) / 16_000
        let track = (0..<Int(Double(speech.count - 1) * ratio)).map { frame in
            let place = Double(frame) / ratio
            let (one, next) = (speech[Int(place)], speech[Int(place) + 1])
            return one + Float(place - place.rounded(.down)) * (next - one)
        }
        try self.init(name, block: block, track: track, silence: 0, scratch, ["talk"])
    }

    private init(
        _ name: String, block: Int, track: [Float], silence: Int, _ scratch: Scratch, _ arguments: [String] = []
    ) throws {
        (self.name, self.block, self.scratch, self.track) = (name, block, scratch, track)
        let samples = [Float](repeating: 0, count: silence) + track
        try samples.withUnsafeBytes { try Data($0).write(to: URL(fileURLWithPath: scratch("\(name).track"))) }
        server = try JACKServer(sampleRate: Self.rate, blockFrameCount: block)
        let folder = URL(fileURLWithPath: Earshot.program).deletingLastPathComponent()
        performer = try ChildProcess(
            [folder.appending(path: "JACKPerformer").path, "\(name)-musician"]
                + [scratch("\(name).track"), scratch("\(name).heard")] + arguments,
            environment: ["JACK_DEFAULT_SERVER": server.name])
        guard eventually({ [performer] in performer.output.contains("ready") }) else {
            throw MusicianFailure(description: "the musician did not start: \(performer.errors)")
        }
    }

    /// Starts the singer's program, or that of another singer beside it, with the musician as its microphone and loudspeaker.
    func sing(_ arguments: [String], as other: String? = nil, terminal: PseudoTerminal) throws -> ChildProcess {
        let name = other ?? name
        return try Earshot.start(
            ["duet"] + arguments + ["--name", name, "--folder", scratch(name), "--no-check"]
                + [
                    "--jack-server", server.name, "--client-name", name, "--microphone", musician, "--speaker",
                    musician,
                ],
            environment: ["XDG_DATA_HOME": scratch("\(name) data"), "XDG_CONFIG_HOME": scratch("\(name) config")],
            terminal: terminal)
    }

    /// The sound at the musician's ear, by the frames of the server's clock.
    struct Witness {
        var heard: [Float]
        /// The frame at which the beginning of the song is heard, by the musician's count.
        var songStart: Int

        /// The lag of a part of the song.
        func lag(of song: ArraySlice<Float>) -> TrackLag { TrackLag(of: song, in: heard, from: songStart) }

        /// Returns the first frame of the song's time at which the ear hears nothing for a moment; nil if the song goes on.
        func silence(before end: Int) -> Int? {
            var length = 0
            for frame in songStart..<min(songStart + end, heard.count) {
                length = heard[frame] == 0 ? length + 1 : 0
                if length == 2_048 { return frame - length - songStart }
            }
            return nil
        }
    }

    /// Ends the musician and the server. Returns the sound that the musician heard.
    func finish() throws -> Witness {
        performer.signal(SIGTERM)
        guard performer.wait() == .exit(0) else {
            throw MusicianFailure(description: "the musician did not end: \(performer.errors)")
        }
        server.stop()
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch("\(name).heard")))
        let pairs = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let first = track.firstIndex { $0 != 0 } ?? 0
        let played = stride(from: 1, to: pairs.count, by: 2).first { pairs[$0] != 0 } ?? 0
        return Witness(
            heard: stride(from: 0, to: pairs.count, by: 2).map { pairs[$0] },
            songStart: played / 2 - first - Self.latency + block)
    }

    /// Returns the lag of the track's part in a sound of the song's length.
    func lag(in sound: [Float], _ part: Range<Int> = 66_150..<110_250) -> TrackLag {
        TrackLag(of: track[part], in: sound)
    }

    /// Returns the channels of a part of a sound file.
    static func read(_ path: String, from second: Int = 0, seconds: Int? = nil) throws -> [[Float]] {
        let file = try SoundFiles.open(path)
        try file.seek(to: second * rate)
        let buffer = AudioBuffer(
            channelCount: file.processingFormat.channelCount,
            frameCapacity: seconds.map { $0 * rate } ?? file.frameCount)
        let count = try file.read(into: buffer.channels, frameCount: buffer.frameCapacity)
        return (0..<buffer.channels.count).map {
            Array(UnsafeBufferPointer(start: buffer.channels[$0], count: count))
        }
    }

    /// Writes a part of the song. Returns its left channel, which the musicians hear.
    static func writeSong(_ path: String, seconds: Int) throws -> [Float] {
        let channels = try read("\(songs)/song.ogg", from: 20, seconds: seconds).map { $0.map { $0 / 2 } }
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: channels[0].count)
        for c in 0..<2 { buffer.channels[c].update(from: channels[c], count: channels[c].count) }
        let file = try SoundFiles.create(path, format: AudioFormat(sampleRate: Double(rate), channelCount: 2))
        try file.write(buffer.channels, frameCount: buffer.frameCapacity)
        try file.close()
        return channels[0]
    }
}
