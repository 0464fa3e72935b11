// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport

/// A headless Chromium with a page of ours that executes commands; its microphone is a file.
final class Browser: @unchecked Sendable {  // locked, constant, or of the one test that has it
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
    /// The recording by the page's worklet.
    struct Recording {
        /// The sound of the call.
        var remote: [Float] = []
        /// The browser's own microphone.
        var microphone: [Float] = []
        /// The audio context's number of the first frame.
        var first: Int?
    }
    private struct State {
        var words: [String] = []
        var replies: [String] = []
        var recording = Recording()
        var gaps = 0
    }
    private let state = Mutex(State())
    private let answering: Mutex<(@Sendable (String, String) throws -> String)?>
    private let folder: URL
    private let page: [UInt8]
    private let server: LoopbackServer
    private let process: ChildProcess

    /// - Parameters:
    ///   - microphone: the captured sound, repeated, at 48 kHz.
    ///   - answer: receives the query and the offer of a page that joins; any thread.
    init(microphone: [Float], answer: @escaping @Sendable (String, String) throws -> String) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = Array(try Data(contentsOf: tests.appending(path: "Browser/page.html")))
        folder = FileManager.default.temporaryDirectory.appending(path: "earshot-browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let sound = folder.appending(path: "microphone.wav")
        try Self.wave(microphone).write(to: sound)
        answering = Mutex(answer)
        let box = Box()
        server = try LoopbackServer { connection in
            guard let browser = box.value.withLock({ $0.browser }) else { return }
            browser.serve(connection)
        }
        process = try ChildProcess([
            "timeout", "-k", "2", "\(Self.lifetime)", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
            "--no-first-run", "--disable-dev-shm-usage",
            "--user-data-dir=\(folder.path)/profile", "--use-fake-ui-for-media-stream",
            "--use-fake-device-for-media-stream",
            "--use-file-for-fake-audio-capture=\(sound.path)", "--autoplay-policy=no-user-gesture-required",
            "--allow-loopback-in-peer-connection", "--disable-features=WebRtcHideLocalIpsWithMdns",
            "--disable-background-networking", "--disable-breakpad", "--disable-component-update", "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
            "http://localhost:\(server.port)/",
        ])
        box.value.withLock { $0.browser = self }
    }

    /// Seconds after which the browser ends if the test is killed, as for the tests' servers.
    private static let lifetime = ProcessInfo.processInfo.environment["EARSHOT_SERVER_LIFETIME"] ?? "120"

    private final class Box: Sendable {
        struct Held { weak var browser: Browser? }
        let value = Mutex(Held())
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func stop() {
        process.stop()
        answering.withLock { $0 = nil }
    }

    /// The recording so far.
    var recording: Recording { state.withLock { $0.recording } }
    /// The number of gaps in the recording.
    var gapCount: Int { state.withLock { $0.gaps } }

    /// Makes the page execute a command.
    func notify(_ word: String, seconds: Double = 15) throws -> String {
        state.withLock { $0.words.append(word) }
        let deadline = Date(timeIntervalSinceNow: seconds)
        while Date() < deadline {
            let reply = state.withLock { $0.replies.isEmpty ? nil : $0.replies.removeFirst() }
            if let reply {
                guard !reply.hasPrefix("error:") else { throw Failure(description: "\(word): \(reply)") }
                return reply
            }
            if process.processID == nil {
                throw Failure(description: "Chromium has ended: \(process.errors.suffix(500))")
            }
            usleep(2_000)
        }
        throw Failure(description: "\(word): no reply; \(process.errors.suffix(1_000))")
    }

    // MARK: Requests from the page

    private func serve(_ connection: LoopbackServer.Connection) {
        let target = connection.request.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
        let (path, query) = target.split(separator: "?", maxSplits: 1).map(String.init).pair
        switch path {
        case "/": reply(connection, page, type: "text/html")
        case "/next":
            for _ in 0..<5_000 {
                let word = state.withLock { $0.words.isEmpty ? nil : $0.words.removeFirst() }
                if let word { return reply(connection, Array(word.utf8)) }
                usleep(4_000)
            }
            reply(connection, [])  // asks again
        case "/done":
            let text = String(decoding: connection.readBody(), as: UTF8.self)
            state.withLock { $0.replies.append(text) }
            reply(connection, [])
        case "/sound":
            take(connection.readBody(), endingAt: Int(query.split(separator: "=").last ?? "") ?? 0)
            reply(connection, [])
        case "/offer":
            let offer = String(decoding: connection.readBody(), as: UTF8.self)
            do {
                let answer = try answering.withLock { $0 }?(query, offer) ?? ""
                reply(connection, Array(answer.utf8))
            } catch {
                state.withLock { $0.replies.append("error: \(error)") }
            }
        default: connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
    }

    private func reply(_ connection: LoopbackServer.Connection, _ body: [UInt8], type: String = "text/plain") {
        connection.send(
            "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n")
        connection.send(body)
    }

    private func take(_ body: [UInt8], endingAt end: Int) {
        body.withUnsafeBytes { bytes in
            let samples = bytes.bindMemory(to: Float.self)
            state.withLock { state in
                let start = end - samples.count / 2
                let first = state.recording.first ?? start
                state.recording.first = first
                let missing = start - first - state.recording.remote.count
                if missing > 0 {
                    state.gaps += 1
                    let silence = [Float](repeating: 0, count: missing)
                    state.recording.remote += silence
                    state.recording.microphone += silence
                }
                for frame in 0..<samples.count / 2 {
                    state.recording.remote.append(samples[2 * frame])
                    state.recording.microphone.append(samples[2 * frame + 1])
                }
            }
        }
    }

    /// A WAV file of 16 bits, the format of Chromium's fake microphone.
    private static func wave(_ samples: [Float]) -> Data {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
        let size = UInt32(samples.count * 2)
        var file = Array("RIFF".utf8) + bytes(36 + size) + Array("WAVEfmt ".utf8) + bytes(UInt32(16)) + bytes(UInt16(1))
        file += bytes(UInt16(1)) + bytes(UInt32(48_000)) + bytes(UInt32(96_000)) + bytes(UInt16(2)) + bytes(UInt16(16))
        file += Array("data".utf8) + bytes(size)
        file.reserveCapacity(file.count + samples.count * 2)
        for sample in samples { file += bytes(Int16(max(-1, min(1, sample)) * 32_767)) }
        return Data(file)
    }
}

extension [String] {
    fileprivate var pair: (String, String) { (first ?? "", count > 1 ? self[1] : "") }
}
