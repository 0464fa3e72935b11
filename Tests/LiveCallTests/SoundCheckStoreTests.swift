// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation
import Testing

@testable import EarshotLiveCall

/// The file of the devices that the user has accepted.
@Suite struct SoundCheckStoreTests {
    /// A temporary folder for one test.
    private final class Scratch {
        let path = NSTemporaryDirectory() + "earshot-checks-\(UUID().uuidString)"

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var store: SoundCheckStore { SoundCheckStore(path: "\(path)/earshot/sound-checks.json") }

        func write(_ bytes: [UInt8]) throws {
            try FileManager.default.createDirectory(atPath: "\(path)/earshot", withIntermediateDirectories: true)
            try Data(bytes).write(to: URL(fileURLWithPath: store.path))
        }
    }

    private static let date = Date(timeIntervalSince1970: 1_795_874_700)
    private static let device = CheckedDevice(system: "pipewire", microphone: "mic", output: "phones")
    private static let others = [
        CheckedDevice(system: "alsa", microphone: "mic", output: "phones"),
        CheckedDevice(system: "pipewire", microphone: "other", output: "phones"),
        CheckedDevice(system: "pipewire", microphone: "mic", output: "other"),
        CheckedDevice(system: "pipewire", microphone: nil, output: "phones"),
        CheckedDevice(system: "pipewire", microphone: "mic", output: nil),
    ]

    private static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test func `an accepted device is known, and another microphone, loudspeaker or system is not`() throws {
        let scratch = Scratch()
        #expect(!scratch.store.contains(Self.device))
        try scratch.store.insert(Self.device, finding: .digitalSilence, date: Self.date)
        #expect(scratch.store.contains(Self.device))
        for other in Self.others { #expect(!scratch.store.contains(other), "\(other)") }
        for other in Self.others { try scratch.store.insert(other, finding: .digitalSilence, date: Self.date) }
        for device in [Self.device] + Self.others { #expect(scratch.store.contains(device), "\(device)") }
    }

    @Test func `the file is readable only by its owner, and has one entry per device`() throws {
        let scratch = Scratch()
        for _ in 0..<3 { try scratch.store.insert(Self.device, finding: .noMicrophone, date: Self.date) }
        #expect(Self.mode(scratch.store.path) == 0o600 && Self.mode("\(scratch.path)/earshot") == 0o700)
        let text = try String(contentsOfFile: scratch.store.path, encoding: .utf8)
        #expect(text.components(separatedBy: "\"mic\"").count == 2, "\(text)")
        #expect(text.contains("\"finding\" : \"noMicrophone\"") && text.contains("\"2026-11-28T"), "\(text)")
    }

    @Test(arguments: [
        "", "{", "[]", "{\"version\":1}", "{\"version\":0,\"devices\":[]}", "{\"version\":1,\"devices\":[{}]}",
        "\u{0}\u{FF}",
    ]) func `a damaged file counts as empty, and is replaced`(text: String) throws {
        let scratch = Scratch()
        try scratch.write(Array(text.utf8))
        #expect(!scratch.store.contains(Self.device))
        try scratch.store.insert(Self.device, finding: .digitalSilence, date: Self.date)
        #expect(scratch.store.contains(Self.device))
    }

    @Test func `a folder in place of the file is an error when storing, and otherwise an empty store`() throws {
        let scratch = Scratch()
        try FileManager.default.createDirectory(atPath: scratch.store.path, withIntermediateDirectories: true)
        #expect(!scratch.store.contains(Self.device))
        #expect(throws: NearbyStoreError.self) {
            try scratch.store.insert(Self.device, finding: .digitalSilence, date: Self.date)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/earshot").sorted() == [
                "lock", "sound-checks.json",
            ])
    }

    @Test func `the oldest devices are forgotten`() throws {
        let scratch = Scratch()
        func device(_ number: Int) -> CheckedDevice {
            CheckedDevice(system: "pipewire", microphone: "mic \(number)", output: nil)
        }
        for number in 0...SoundCheckStore.maximumDeviceCount {
            try scratch.store.insert(device(number), finding: .digitalSilence, date: Self.date)
        }
        #expect(!scratch.store.contains(device(0)) && scratch.store.contains(device(1)))
        #expect(scratch.store.contains(device(SoundCheckStore.maximumDeviceCount)))
    }

    @Test func `the file of a later version is not an answer, and is not changed`() throws {
        let scratch = Scratch()
        let text = #"{"version":2,"devices":[{"device":{"system":"pipewire"}}],"chords":true}"#
        try scratch.write(Array(text.utf8))
        #expect(!scratch.store.contains(Self.device))
        #expect(throws: NearbyStoreError.laterVersion(scratch.store.path)) {
            try scratch.store.insert(Self.device, finding: .digitalSilence, date: Self.date)
        }
        #expect(try String(contentsOfFile: scratch.store.path, encoding: .utf8) == text)
    }

    @Test func `fields that a later version added stay when a device is added and when its answer is renewed`() throws {
        let scratch = Scratch()
        let text = #"""
            {"version":1,"room":{"size":[3,4.5],"name":null},"devices":[{"device":{"system":"pipewire","microphone":"mic",
            "output":"phones","port":2},"finding":"fine","date":"2026-11-28T12:00:00Z","trust":true}]}
            """#
        try scratch.write(Array(text.utf8))
        #expect(scratch.store.contains(Self.device))
        try scratch.store.insert(Self.others[0], finding: .digitalSilence, date: Self.date)
        try scratch.store.insert(Self.device, finding: .noMicrophone, date: Self.date)
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch.store.path))
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let room = try #require(file["room"] as? [String: Any])
        #expect(room["size"] as? [Double] == [3, 4.5] && room["name"] is NSNull)
        let devices = try #require(file["devices"] as? [[String: Any]])
        #expect(devices.count == 2 && devices.last?["finding"] as? String == "noMicrophone")
        #expect(devices.last?["trust"] as? Bool == true)
        #expect((devices.last?["device"] as? [String: Any])?["port"] as? Int == 2)
    }

    @Test func `an entry without a judgement is not an answer`() throws {
        let scratch = Scratch()
        let text =
            #"{"version":1,"devices":[{"device":{"system":"pipewire","microphone":"mic","output":"phones"},"#
            + #""date":"2026-11-28T12:00:00Z"}]}"#
        try scratch.write(Array(text.utf8))
        #expect(!scratch.store.contains(Self.device))
        try scratch.store.insert(Self.device, finding: .digitalSilence, date: Self.date)
        #expect(scratch.store.contains(Self.device))
    }

    @Test func `two programs that store devices at the same time lose none`() throws {
        let scratch = Scratch()
        @Sendable func device(_ number: Int) -> CheckedDevice {
            CheckedDevice(system: "pipewire", microphone: "mic \(number)", output: nil)
        }
        let store = scratch.store
        DispatchQueue.concurrentPerform(iterations: 40) { number in
            try? store.insert(device(number), finding: .digitalSilence, date: Self.date)
        }
        #expect((0..<40).allSatisfy { store.contains(device($0)) })
    }
}
