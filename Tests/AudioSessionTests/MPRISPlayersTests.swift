// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioSession

/// With real players on a real session bus.
@Suite("MPRISPlayers", .serialized, .realTime, .needs("dbus-daemon", "mpv")) struct OtherPlayersTests {
    @Test("playing players are paused and resumed, and paused ones stay paused")
    func pauseAndResume() throws {
        let rig = try PlayerRig()
        let (playing, _) = try rig.mpv()
        let (paused, _) = try rig.mpv(isPaused: true)
        let players = MPRISPlayers(address: rig.address)
        players.pause()
        #expect(waits { rig.status(playing) == "Paused" })
        #expect(rig.status(paused) == "Paused")
        players.resume()
        #expect(waits { rig.status(playing) == "Playing" })
        #expect(rig.status(paused) == "Paused")
    }

    @Test("a session pauses players on activation and resumes them on a settings change or at its end")
    func session() throws {
        let rig = try PlayerRig()
        let (player, _) = try rig.mpv()
        var configuration = AudioSession.Configuration()
        configuration.otherAudio = .pause
        let players = MPRISPlayers(address: rig.address)
        let system = SimulatedSystem([AudioSessionTests.card("speakers", isDefault: true)])
        var session: AudioSession? = AudioSession(system, configuration, players: players)
        #expect(rig.status(player) == "Playing")
        try session?.activate()
        #expect(waits { rig.status(player) == "Paused" })
        session?.configuration.otherAudio = .mix
        #expect(waits { rig.status(player) == "Playing" })
        session?.configuration.otherAudio = .pause
        #expect(waits { rig.status(player) == "Paused" })
        // A second session changes nothing, nor does its end.
        let second = AudioSession(system, configuration, players: players)
        try second.activate()
        second.deactivate()
        #expect(rig.status(player) == "Paused")
        session?.deactivate()
        #expect(waits { rig.status(player) == "Playing" })
        try session?.activate()
        #expect(waits { rig.status(player) == "Paused" })
        session = nil
        #expect(waits { rig.status(player) == "Playing" })
    }

    @Test("players that the user starts or closes meanwhile are left alone")
    func user() throws {
        let rig = try PlayerRig()
        let (stopped, _) = try rig.mpv()
        let (ended, process) = try rig.mpv()
        let players = MPRISPlayers(address: rig.address)
        players.pause()
        #expect(waits { rig.status(stopped) == "Paused" && rig.status(ended) == "Paused" })
        process.stop()
        #expect(waits { rig.status(ended) == nil })
        // Possibly another one with the same name.
        let (later, _) = try rig.mpv(isPaused: true)
        try rig.press("Play", stopped)
        #expect(waits { rig.status(stopped) == "Playing" })
        players.resume()
        #expect(rig.status(stopped) == "Playing")
        #expect(rig.status(later) == "Paused")
    }

    @Test(
        "a player with invalid replies is ignored and does not affect other players",
        arguments: [
            "return 5", "return", "return ['Playing', 'Paused']", "raise Exception('no')", "return dbus.Struct((1, 2))",
            "return 'x' * 100000", "return dbus.String('Playing', variant_level=3)", "import os; os._exit(1)",
            "return dbus.String('Playing', variant_level=1)", "import time; time.sleep(1)",
        ])
    func nonsense(status: String) throws {
        let rig = try PlayerRig()
        try rig.rogue("aaa", status: status)
        let (player, _) = try rig.mpv()
        let players = MPRISPlayers(address: rig.address)
        players.pause()
        #expect(waits { rig.status(player) == "Paused" })
        players.resume()
        #expect(waits { rig.status(player) == "Playing" })
    }

    @Test("hung players and a hung or stopped bus do not block a session for long")
    func hanging() throws {
        let rig = try PlayerRig()
        let hung = try (0..<2).map { _ in try rig.mpv().process }
        for process in hung { signalGroup(process, SIGSTOP) }
        let (player, _) = try rig.mpv()
        let players = MPRISPlayers(address: rig.address)
        players.pause()
        #expect(waits { rig.status(player) == "Paused" })
        for process in hung { signalGroup(process, SIGCONT) }
        try rig.freezeBus()
        #expect(waits { rig.isBusFrozen })
        players.resume()
        players.pause()
        #expect(rig.isBusFrozen, "the calls did not wait for the bus to go on")
        // Nobody received that request, and the next one is received.
        rig.thawBus()
        #expect(waits { rig.status(player) == "Paused" })
        try rig.press("Play", player)
        #expect(waits { rig.status(player) == "Playing" })
        players.resume()
        players.pause()
        #expect(waits { rig.status(player) == "Paused" })
        rig.stopBus()
        players.resume()
        players.pause()
        players.resume()
        #expect(SessionBus(address: rig.address) == nil)
    }

    /// Sends a signal to `timeout` and the program that it runs.
    private func signalGroup(_ process: ChildProcess, _ number: CInt) {
        if let id = process.processID { kill(-id, number) }
    }

    @Test(
        "pausing has no effect if the bus is missing or its address is invalid",
        arguments: [
            "", "unix:path=/nowhere", "nonsense", "unix:", "unix:path=%zz", "unixexec:path=/bin/false", ";;", "a\nb",
        ])
    func noBus(address: String) {
        #expect(SessionBus(address: address) == nil)
        let players = MPRISPlayers(address: address)
        players.pause()
        players.resume()
    }

    @Test("a call to an invalid bus name returns nil")
    func names() throws {
        let rig = try PlayerRig()
        let bus = try #require(SessionBus(address: rig.address))
        for name in ["", "x", "no way", ":", String(repeating: "a.", count: 200), "a..b", "ä.b"] {
            #expect(bus.call(name, "/", "a.b", "C") == nil)
        }
        #expect(bus.callBus("GetNameOwner", ["org.freedesktop.DBus"])?.string == "org.freedesktop.DBus")
        #expect(bus.callBus("NoSuchMethod", []) == nil)
        #expect(bus.callBus("ListNames", [])?.strings.contains("org.freedesktop.DBus") == true)
        #expect(bus.callBus("ListNames", [])?.string == nil)
        #expect(bus.callBus("ListNames", [])?.number == nil)
        #expect(bus.callBus("GetConnectionUnixProcessID", ["org.freedesktop.DBus"])?.number ?? 0 > 0)
    }
}
