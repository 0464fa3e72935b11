// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Recorded musicians sing duets: two processes, each on its own JACK server, by keys.
@Suite(.serialized, .realTime, .needs("jackd")) struct JACKDuetTests {
    /// Checks the lag of a singer's track in a stem and in the mix.
    /// - Parameter heard: the lag of the song at the musician's ear, which decides.
    private func checkLag(
        of singer: JACKSinger, in folder: String, heard: TrackLag, _ part: Range<Int>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let stem = singer.lag(in: try JACKSinger.read("\(folder)/\(singer.name).flac")[0], part)
        let channels = try JACKSinger.read("\(folder)/mix.m4a")
        let mix = singer.lag(in: zip(channels[0], channels[1]).map { $0 + $1 }, part)
        print(
            "\(singer.name): the song is heard at \(heard), the track is in the stem at \(stem), in the mix at \(mix)")
        #expect(abs(stem.frames + heard.frames) <= 1 && stem.correlation > 0.9, sourceLocation: sourceLocation)
        // The musician plays to the first click of the count-in, not to the song.
        #expect(abs(mix.frames - stem.frames) <= 1 && abs(mix.frames) <= 2, sourceLocation: sourceLocation)
        #expect(mix.correlation > 0.3, sourceLocation: sourceLocation)
    }

    /// Leaves after the song, and does not play the mix.
    private func leave(_ program: ChildProcess, _ keys: PseudoTerminal) {
        keys.type("q")
        #expect(program.says("p play the mix"), "\(program.errors)")
        keys.type("x")
        #expect(program.wait() == .exit(0), "\(program.errors)")
    }

    @Test func `two musicians record a duet, and its mix has both tracks in place`() throws {
        let scratch = try Scratch()
        let song = try JACKSinger.writeSong(scratch("Feelings.wav"), seconds: 4)
        let anna = try JACKSinger("Anna", block: 128, from: 20, seconds: 4, scratch)
        let ben = try JACKSinger("Ben", block: 256, from: 40, seconds: 4, scratch)
        let (port, keys, guestKeys) = (try Earshot.freePort(), try PseudoTerminal(), try PseudoTerminal())
        let host = try anna.sing(
            ["host", scratch("Feelings.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"], terminal: keys)
        try #require(host.says("Song: Feelings (0:04)."), "\(host.errors)")
        let guest = try ben.sing(["join", "127.0.0.1:\(port)"], terminal: guestKeys)
        try #require(guest.says("Press Enter", seconds: 20), "\(guest.errors)")
        guestKeys.type("\r")
        try #require(host.says("Ben agrees."), "\(host.errors)")
        keys.type("\r")
        for program in [host, guest] { #expect(program.says("Saved: ", seconds: 20), "\(program.errors)") }
        for (program, keys) in [(host, keys), (guest, guestKeys)] { leave(program, keys) }
        for singer in [anna, ben] {
            let heard = try singer.finish().lag(of: song[44_100..<88_200])
            for folder in [anna, ben] {
                let take = try DuetCommandTests.take(scratch(folder.name))
                try checkLag(of: singer, in: take, heard: heard, 66_150..<110_250)
            }
        }
    }

    @Test func `two microphones that hear one voice are in the same room`() throws {
        let scratch = try Scratch()
        let song = scratch("Feelings.wav")
        _ = try JACKSinger.writeSong(song, seconds: 4)
        let anna = try JACKSinger(talking: "Anna", block: 128, scratch)
        let (port, keys, guestKeys) = (try Earshot.freePort(), try PseudoTerminal(), try PseudoTerminal())
        let host = try anna.sing(
            ["host", song, "--port", "\(port)", "--accept", "all", "--no-announce"], terminal: keys)
        try #require(host.says("Song: Feelings (0:04)."), "\(host.errors)")
        let guest = try anna.sing(["join", "127.0.0.1:\(port)"], as: "Ben", terminal: guestKeys)
        let words = "Anna is in the same room, so you hear Anna only through the air."
        #expect(guest.says(words, seconds: 20), "\(guest.errors)")
        #expect(host.says("Ben is in the same room", seconds: 5), "\(host.errors)")
        guestKeys.type("v")
        #expect(guest.says("You hear Anna."), "\(guest.errors)")
        for program in [guest, host] { program.signal(SIGTERM) }
        _ = try anna.finish()
    }

    @Test func `singers killed in mid-song come back in place, and the mix has both tracks, each with one gap`() throws
    {
        let scratch = try Scratch()
        let song = try JACKSinger.writeSong(scratch("Feelings.wav"), seconds: 7)
        let anna = try JACKSinger("Anna", block: 128, from: 20, seconds: 7, scratch)
        let ben = try JACKSinger("Ben", block: 256, from: 40, seconds: 7, scratch)
        let (port, guestPort) = (try Earshot.freePort(), try Earshot.freePort())
        let (keys, guestKeys, newKeys, lastKeys) = (
            try PseudoTerminal(), try PseudoTerminal(), try PseudoTerminal(), try PseudoTerminal()
        )
        let host = try anna.sing(
            ["host", scratch("Feelings.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"], terminal: keys)
        try #require(host.says("Song: Feelings (0:07)."), "\(host.errors)")
        let join = ["join", "127.0.0.1:\(port)", "--port", "\(guestPort)"]
        let killed = try ben.sing(join, terminal: guestKeys)
        try #require(killed.says("Press Enter", seconds: 20), "\(killed.errors)")
        guestKeys.type("\r")
        try #require(host.says("Ben agrees."), "\(host.errors)")
        keys.type("\r")
        try #require(killed.says("Sing."), "\(killed.errors)")
        Thread.sleep(forTimeInterval: 1)
        killed.signal(SIGKILL)
        let guest = try ben.sing(join, terminal: newKeys)
        try #require(guest.says("Enter joins"), "\(guest.errors)")
        newKeys.type("\r")
        try #require(guest.says("Sing."), "\(guest.errors)")
        Thread.sleep(forTimeInterval: 0.5)
        // The guest becomes the host.
        host.signal(SIGKILL)
        try #require(guest.says("You are the host now."), "\(guest.errors)")
        let returned = try anna.sing(["join", "127.0.0.1:\(guestPort)", "--port", "\(port)"], terminal: lastKeys)
        try #require(returned.says("Enter joins"), "\(returned.errors)")
        lastKeys.type("\r")
        for program in [guest, returned] { #expect(program.says("Saved: ", seconds: 20), "\(program.errors)") }
        for (program, keys) in [(returned, lastKeys), (guest, newKeys)] { leave(program, keys) }
        for singer in [anna, ben] {
            let witness = try singer.finish()
            let silence = try #require(witness.silence(before: song.count))
            for folder in [anna, ben] {
                let take = try DuetCommandTests.take(scratch(folder.name))
                let gaps = try #require(try KilledDuetCommandTests.tracks(take)[singer.name])
                try #require(gaps.count == 1 && gaps[0]["reason"] as? String == "away", "\(gaps)")
                let frame = try #require(gaps[0]["frame"] as? Int)
                let end = try #require(gaps[0]["frameCount"] as? Int) + frame
                print("\(singer.name): killed at \(silence), gap \(frame) to \(end)")
                // The take has all but the last second.
                #expect(frame <= silence && silence < frame + JACKSinger.rate && end < song.count)
                for part in [frame - 22_050..<frame - 4_410, end + 4_410..<end + 22_050] {
                    try checkLag(of: singer, in: take, heard: witness.lag(of: song[part]), part)
                }
            }
        }
    }
}
