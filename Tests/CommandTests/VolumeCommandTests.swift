// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import earshot

/// Volumes of participants with the program as users run it. Each user has a folder of their own, so that the key stays the same.
@Suite(.serialized, .realTime) struct VolumeCommandTests {
    private let ann = TestFolders.next("person")
    private let bob = TestFolders.next("person")

    private func start(_ arguments: [String], of folder: String, terminal: PseudoTerminal? = nil) throws -> ChildProcess
    {
        try Earshot.start(
            arguments + ["--device", "simulated"], environment: ["XDG_DATA_HOME": folder], terminal: terminal)
    }

    private func join(_ port: Int, terminal: PseudoTerminal) throws -> ChildProcess {
        let guest = try start(["join", "127.0.0.1:\(port)", "--name", "Bob"], of: bob, terminal: terminal)
        try #require(guest.says("In a call with Ann"), "\(guest.errors)")
        return guest
    }

    @Test func `keys change the volume of a participant, and the next call begins with it`() throws {
        let (port, keys) = (try Earshot.freePort(), try PseudoTerminal())
        let host = try start(Earshot.host(port) + ["--name", "Ann"], of: ann)
        try #require(host.says("Waiting for guests"), "\(host.errors)")
        let guest = try join(port, terminal: keys)
        keys.type("v")
        #expect(guest.says("Select a participant first: ↑ or ↓"), "\(guest.errors)")
        keys.type("+")
        #expect(guest.says("playback +2 dB"), "\(guest.errors)")
        keys.type("\u{1B}[B--")
        #expect(guest.says(">Ann") && guest.says("-4 dB"), "\(guest.errors)")
        keys.type("v")
        #expect(guest.says("You do not hear Ann. Press v to hear Ann again."), "\(guest.errors)")
        #expect(guest.says("not heard"), "\(guest.errors)")
        keys.type("q")
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        let entries = NearbyStore(directory: bob + "/earshot").peerVolumes().entries
        #expect(entries.map(\.setting) == [.init(volume: VolumeSentences.factor(-4), isHeard: false)])

        let laterKeys = try PseudoTerminal()
        let again = try join(port, terminal: laterKeys)
        #expect(
            again.says("You do not hear Ann, as before. To hear Ann: select with ↑ or ↓, then press v."),
            "\(again.errors)")
        laterKeys.type("\u{1B}[A")
        #expect(again.says(">Ann"), "\(again.errors)")
        laterKeys.type("v")
        #expect(again.says("You hear Ann."), "\(again.errors)")
        laterKeys.type("q")
        #expect(again.wait() == .exit(0), "\(again.errors)")
    }
}
