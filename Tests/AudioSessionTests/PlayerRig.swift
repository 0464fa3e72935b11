// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A test's own session bus with real players: mpv with its MPRIS plug-in, and a faulty one.
final class PlayerRig {
    let address: String
    private let folder: String
    private let bus: ChildProcess
    private var players: [ChildProcess] = []

    init() throws {
        folder = "\(NSTemporaryDirectory())earshot-bus-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        address = "unix:path=\(folder)/bus"
        try Data(Self.wav()).write(to: URL(fileURLWithPath: "\(folder)/silence.wav"))
        bus = try ChildProcess(["timeout", "60", "dbus-daemon", "--session", "--nofork", "--address=\(address)"])
        guard waits({ access("\(self.folder)/bus", F_OK) == 0 }) else { throw Failure.noBus }
    }

    deinit {
        for player in players { player.stop() }
        bus.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    enum Failure: Error { case noBus, noPlayer }

    func stopBus() { bus.stop() }

    /// Stops the bus from answering for half a minute at most. Then callers that wait forever continue.
    func freezeBus() throws {
        guard let id = bus.processID else { throw Failure.noBus }
        bus.signalGroup(SIGSTOP)
        players.append(try ChildProcess(["sh", "-c", "sleep 30; kill -s CONT -\(id)"]))
    }

    /// Lets the bus answer again.
    func thawBus() { bus.signalGroup(SIGCONT) }

    /// True while the bus is stopped by a signal (proc_pid_stat(5)).
    var isBusFrozen: Bool {
        guard let id = bus.processID, let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        else { return false }
        return stat.split(separator: ")").last?.split(separator: " ").first == "T"
    }

    /// Starts a player, which is playing or paused when this returns. Several players have different names.
    /// - Returns: the player's name on the bus, and its process.
    func mpv(isPaused: Bool = false) throws -> (name: String, process: ChildProcess) {
        let before = try names()
        let process = try ChildProcess(
            [
                "timeout", "60", "mpv", "--no-config", "--no-terminal", "--no-video", "--ao=null", "--loop=inf",
                "--script=/usr/lib/mpv-mpris/mpris.so", "--pause=\(isPaused ? "yes" : "no")", "\(folder)/silence.wav",
            ], environment: ["DBUS_SESSION_BUS_ADDRESS": address])
        players.append(process)
        var name: String?
        let isFound = waits {
            name = (try? self.names())?.subtracting(before).first
            return name.map { self.status($0) == (isPaused ? "Paused" : "Playing") } ?? false
        }
        guard isFound, let name else { throw Failure.noPlayer }
        return (name, process)
    }

    /// A player with invalid answers; `status` is Python.
    func rogue(_ name: String, status: String) throws {
        let before = try names()
        let script = """
            import dbus, dbus.service, dbus.mainloop.glib
            from gi.repository import GLib
            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            class Player(dbus.service.Object):
                @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature=None)
                def Get(self, interface, name): \(status)
                @dbus.service.method('org.mpris.MediaPlayer2.Player')
                def Pause(self): raise Exception('no')
            bus = dbus.SessionBus()
            player = Player(bus, '/org/mpris/MediaPlayer2')
            name = dbus.service.BusName('org.mpris.MediaPlayer2.\(name)', bus)
            GLib.timeout_add_seconds(60, exit)
            GLib.MainLoop().run()
            """
        players.append(
            try ChildProcess(["/usr/bin/python3", "-c", script], environment: ["DBUS_SESSION_BUS_ADDRESS": address]))
        guard waits({ (try? self.names()) != before }) else { throw Failure.noPlayer }
    }

    /// Returns a player's PlaybackStatus.
    func status(_ name: String) -> String? {
        try? call(
            name, "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties.Get",
            "string:org.mpris.MediaPlayer2.Player", "string:PlaybackStatus"
        ).split(separator: "\"").dropFirst().first.map(String.init)
    }

    /// Performs a user's action on the player itself.
    func press(_ button: String, _ name: String) throws {
        _ = try call(name, "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player.\(button)")
    }

    private func names() throws -> Set<String> {
        let said = try call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames")
        return Set(said.split(separator: "\"").map(String.init).filter { $0.hasPrefix("org.mpris.") })
    }

    /// Calls the bus with another client than ours.
    private func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) throws -> String {
        let child = try ChildProcess(
            ["dbus-send", "--bus=\(address)", "--print-reply", "--reply-timeout=2000", "--dest=\(name)", path, method]
                + arguments)
        _ = child.wait(seconds: 5)
        return child.output
    }

    /// A minute of silence.
    private static func wav() -> [UInt8] {
        func bytes(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(value >> (8 * UInt32($0)) & 255) }
        }
        let size = UInt32(60 * 8_000 * 2)
        var file = Array("RIFF".utf8) + bytes(36 + size, 4) + Array("WAVEfmt ".utf8)
        file += bytes(16, 4) + bytes(1, 2) + bytes(1, 2) + bytes(8_000, 4) + bytes(16_000, 4) + bytes(2, 2)
        file += bytes(16, 2) + Array("data".utf8) + bytes(size, 4)
        return file + [UInt8](repeating: 0, count: Int(size))
    }
}

/// Waits for an effect of another program; false after ten seconds.
func waits(_ condition: () -> Bool) -> Bool {
    for _ in 0..<500 {
        if condition() { return true }
        usleep(20_000)
    }
    return condition()
}
