// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioStreams

/// Streams over real connections. Nothing here depends on their speed.
@Suite(.realTime) struct AudioStreamTests {
    /// Plays a stream as fast as it arrives, until a condition is true.
    private final class Listener {
        let stream: AudioStream
        var heard: [Float] = []
        private let block = AudioBuffer(channelCount: 2, frameCapacity: 1_024)

        init(_ address: String, _ change: (inout AudioStreamOptions) -> Void = { _ in }) throws {
            var options = AudioStreamOptions()
            options.prebuffer = 0.2
            options.reconnection.firstDelay = 0.02
            change(&options)
            stream = try AudioStream(address, format: .cd, options: options)
            try stream.start()
        }

        deinit { stream.stop() }

        func play() {
            let before = stream.framesPlayed
            #expect(stream.render(0, 1_024, block.channels) == 1_024)
            let played = stream.framesPlayed - before
            heard += (0..<played).map { block.channels[0][$0] }
            #expect((played..<1_024).allSatisfy { block.channels[1][$0] == 0 })
        }

        @discardableResult
        func play(until done: (AudioStreamState) -> Bool) -> AudioStreamState {
            for _ in 0..<20_000 {
                play()
                let state = stream.state
                if done(state) { return state }
                usleep(1_000)
            }
            Issue.record("still \(stream.state)")
            return stream.state
        }

        func playToTheEnd() -> AudioStreamState {
            play { state in
                switch state {
                case .ended, .failed: true
                default: false
                }
            }
        }
    }

    private static func head(_ status: String = "HTTP/1.1 200 OK", _ fields: String...) -> String {
        ([status, "Content-Type: audio/mpeg", "Connection: close"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func expectTheFile(_ listener: Listener) throws {
        #expect(listener.playToTheEnd() == .ended)
        let expected = try reference(.mp3)
        #expect(listener.heard.count == expected.count)
        // Except where it fades because it was played faster than it arrived.
        let changed = zip(expected, listener.heard).filter { abs($0 - $1) > 1e-3 }.count
        #expect(changed <= 2 * 220 * listener.stream.statistics.stalls, "\(changed)")
    }

    @Test func `a file over HTTP plays completely`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: \(bytes.count)"))
            connection.send(bytes)
        }
        try expectTheFile(try Listener(server.address()))
        #expect(server.requests.first?.contains("Icy-MetaData: 1") == true)
    }

    @Test func `chunked transfer with chunks of any size is decoded`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            connection.send(Self.head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked"))
            var random = SeededRandom(seed: 4)
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + Int(random.next() % 3_000))
                rest = rest.dropFirst(piece.count)
                connection.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10])
            }
            connection.send("0\r\n\r\n")
        }
        try expectTheFile(try Listener(server.address()))
    }

    @Test func `a slow trickle of bytes plays completely`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            for byte in Self.head().utf8 { connection.send([byte]) }
            var rest = bytes[...]
            while !rest.isEmpty {
                connection.send(Array(rest.prefix(97)))
                rest = rest.dropFirst(97)
                usleep(500)
            }
        }
        try expectTheFile(try Listener(server.address()))
    }

    @Test func `redirects are followed, but not endlessly and not to local files`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            let hop = connection.request.split(separator: " ")[1]
            switch hop {
            case "/live":
                connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: \(bytes.count)"))
                connection.send(bytes)
            case "/file": connection.send(Self.head("HTTP/1.1 302 Found", "Location: file:///etc/passwd"))
            case "/round": connection.send(Self.head("HTTP/1.1 302 Found", "Location: /round"))
            default:
                let left = Int(hop.dropFirst()) ?? 0
                let next = left > 0 ? "/\(left - 1)" : "/live"
                connection.send(Self.head("HTTP/1.1 301 Moved", "Location: \(next)"))
            }
        }
        try expectTheFile(try Listener(server.address("/3")))
        #expect(
            try Listener(server.address("/round")).playToTheEnd()
                == .failed(.tooManyRedirects(address: server.address("/round"))))
        #expect(
            try Listener(server.address("/file")).playToTheEnd()
                == .failed(.redirectRefused(address: server.address("/file"))))
    }

    @Test func `SHOUTcast's own status line and titles are understood`() throws {
        let sound = try Sound.live.bytes
        let bytes = LoopbackServer.interleave(
            sound, interval: 8_192,
            texts: [0: Array("StreamTitle='One';".utf8), 3: Array("StreamTitle='Tw".utf8) + [0xF6] + Array("';".utf8)])
        let server = try LoopbackServer { connection in
            if connection.number > 0 { return }
            connection.send("ICY 200 OK\r\nicy-name:Radio\r\nicy-metaint:8192\r\n\r\n")
            connection.send(bytes)
            connection.send(bytes.isEmpty ? [] : [0])
            usleep(300_000)
        }
        let listener = try Listener(server.address())
        listener.play { _ in listener.stream.title?.text == "Twö" }
        let title = try #require(listener.stream.title)
        #expect(abs(Double(title.frame) - 4 * 8_192 * 2.75625) <= 1_152)
    }

    @Test func `a station that disconnects in the middle of a frame is reconnected`() throws {
        let bytes = try Sound.live.bytes
        let server = try LoopbackServer { connection in
            connection.send(Self.head("HTTP/1.0 200 OK", "icy-name: Radio"))
            let start = connection.number * 1_111 % 20_000
            connection.send(Array(bytes[start..<start + 20_007]))
            if connection.number % 2 == 0 { connection.reset() }
        }
        let listener = try Listener(server.address())
        listener.play { _ in listener.stream.statistics.reconnections >= 3 && listener.heard.count > 150_000 }
        #expect(listener.stream.statistics.packetsConcealed <= listener.stream.statistics.reconnections)
        listener.stream.stop()
        #expect(listener.stream.state == .stopped)
    }

    @Test func `an interrupted file download resumes where it broke off`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            let range = connection.request.components(separatedBy: "Range: bytes=").dropFirst().first
            let start = range?.prefix { $0.isNumber }
            let from = start.flatMap { Int($0) } ?? 0
            connection.send(
                Self.head(
                    from > 0 ? "HTTP/1.1 206 Partial Content" : "HTTP/1.1 200 OK",
                    "Content-Range: bytes \(from)-\(bytes.count - 1)/\(bytes.count)",
                    "Content-Length: \(bytes.count - from)"))
            connection.send(Array(bytes[from..<min(bytes.count, from + 15_000)]))
        }
        try expectTheFile(try Listener(server.address()))
    }

    @Test func `seeking in a file requests byte ranges from the server`() throws {
        let bytes = try LongSound.wav.bytes
        let whole = try LongSound.wav.heard(.cd)
        let server = try LoopbackServer { $0.send(file: bytes) }
        let listener = try Listener(server.address()) { $0.prebuffer = 1 }
        // Before anything is known, then while it plays, twice in a row.
        try listener.stream.seek(to: 5 * 44_100)
        #expect(listener.stream.framePosition == 5 * 44_100)
        for (seconds, before) in [(5, 5), (38, 20), (9, 30)] {
            try listener.stream.seek(to: before * 44_100)
            try listener.stream.seek(to: seconds * 44_100)
            listener.play(until: { _ in listener.stream.framePosition > seconds * 44_100 + 20_000 })
            let count = listener.stream.framePosition - seconds * 44_100
            let heard = Array(listener.heard.suffix(count))
            #expect(Array(heard[220...]) == Array(whole[(seconds * 44_100 + 220)..<(seconds * 44_100 + count)]))
        }
        #expect(listener.stream.source?.isSeekable == true)
        #expect(server.requests.contains { $0.contains("Range: bytes=") })
    }

    @Test func `a server without range support is reported at once, and playback continues`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { $0.send(file: bytes, hasRanges: false) }
        let listener = try Listener(server.address())
        listener.play { $0 == .playing }
        #expect(throws: AudioStreamError.self) { try listener.stream.seek(to: 44_100) }
        #expect(listener.stream.source?.isSeekable == false)
        try expectTheFile(listener)
        #expect(server.requests.count == 1)
        #expect(throws: AudioStreamError.self) {
            try AudioStream(reading: 0, format: .cd).seek(to: 1)
        }
    }

    @Test func `a stall is reported as a state, and playback resumes where it stopped`() throws {
        let bytes = try Sound.mp3.bytes
        let flag = Flag()
        let server = try LoopbackServer { connection in
            connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: \(bytes.count)"))
            connection.send(Array(bytes[..<20_000]))
            while !flag.isSet { usleep(1_000) }
            connection.send(Array(bytes[20_000...]))
        }
        let listener = try Listener(server.address())
        listener.play { $0 == .playing }
        listener.play { $0 == .buffering }
        #expect(listener.stream.statistics.stalls == 1)
        flag.set()
        try expectTheFile(listener)
    }

    @Test func `a station that sends faster than playback is throttled`() throws {
        let bytes = try Sound.live.bytes
        let sent = Counter()
        let server = try LoopbackServer { connection in
            connection.send(Self.head("HTTP/1.0 200 OK", "icy-name: Radio"))
            while connection.send(bytes) { sent.add(bytes.count) }
        }
        let listener = try Listener(server.address())
        var last = -1
        while sent.value != last || last < 100_000 {  // until nothing more is taken
            last = sent.value
            usleep(300_000)
        }
        // 10 s of sound, plus the contents of both sockets.
        #expect(listener.stream.bufferedSeconds < 16)
        #expect(listener.stream.statistics.bytesReceived < 400_000)
        for _ in 0..<1_000 { listener.play() }
        listener.play { _ in listener.stream.statistics.bytesReceived > 400_000 }
    }

    @Test func `content that is not a stream is named in the error`() throws {
        let server = try LoopbackServer { connection in
            switch connection.request.split(separator: " ")[1] {
            case "/page":
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
                connection.send(
                    "<!DOCTYPE html>\n<html><head><title>Radio</title></head><body>Listen here</body></html>")
            case "/endless":
                connection.send("HTTP/1.1 200 OK\r\n")
                while connection.send("X-More: \(String(repeating: "x", count: 500))\r\n") {}
            case "/nothing": break
            default: connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nGone")
            }
        }
        guard case .failed(.notAudio(_, let reason)) = try Listener(server.address("/page")).playToTheEnd() else {
            return wrong("a page is played")
        }
        #expect(reason == .notAudio(found: "a web page (HTML)", offset: 0))
        guard case .failed(.unreachable(_, let head)) = try Listener(server.address("/endless")).playToTheEnd() else {
            return wrong("a head without end is taken")
        }
        #expect(head.contains("head"))
        guard case .failed(.unreachable) = try Listener(server.address("/nothing")).playToTheEnd() else {
            return wrong("nothing is played")
        }
        #expect(
            try Listener(server.address("/gone")).playToTheEnd()
                == .failed(.refused(status: 404, address: server.address("/gone"))))
    }

    @Test func `a playlist leads to its stream`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            if connection.request.hasPrefix("GET /list.m3u ") {
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n#EXTM3U\n#EXTINF:-1,x\nsub/live\n")
            } else {
                connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: \(bytes.count)"))
                connection.send(bytes)
            }
        }
        try expectTheFile(try Listener(server.address("/list.m3u")))
        #expect(server.requests.last?.hasPrefix("GET /sub/live ") == true)
    }

    @Test func `a playlist behind a redirect leads to its streams and skips a missing one`() throws {
        let bytes = try Sound.mp3.bytes
        let server = try LoopbackServer { connection in
            if connection.request.hasPrefix("GET /short ") {
                connection.send("HTTP/1.1 302 Found\r\nLocation: /radio/list.m3u\r\nConnection: close\r\n\r\n")
            } else if connection.request.hasPrefix("GET /radio/list.m3u ") {
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n#EXTM3U\ngone\nlive\n")
            } else if connection.request.hasPrefix("GET /radio/gone ") {
                connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            } else {
                connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: \(bytes.count)"))
                connection.send(bytes)
            }
        }
        let listener = try Listener(server.address("/short"))
        try expectTheFile(listener)
        #expect(server.requests.last?.hasPrefix("GET /radio/live ") == true && server.requests.count == 4)
        #expect(listener.stream.statistics.reconnections == 0)
    }

    @Test func `credentials are sent only to the original server`() throws {
        let other = try LoopbackServer { connection in
            connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let place = other.address()
        let server = try LoopbackServer { connection in
            connection.send(Self.head("HTTP/1.1 302 Found", "Location: \(place)"))
        }
        let address = "http://me:secret@127.0.0.1:\(server.port)/live?key=secret"
        let state = try Listener(address).playToTheEnd()
        guard case .failed(let error) = state else { return wrong("\(state)") }
        #expect(!error.description.contains("secret") && !"\(state)".contains("secret"))
        #expect(server.requests.first?.contains("Authorization: Basic") == true)
        #expect(other.requests.first?.contains("Authorization") == false)
    }

    @Test func `a TLS server needs a valid certificate and cannot redirect to plain HTTP`() throws {
        let folder = try Sound.folder.get() + "/tls"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Sound.shell(
            """
            cd \(folder) && cp ../mp3 body && openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout key -out cert \
            -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
            (printf 'HTTP/1.0 200 OK\\r\\nContent-Type: audio/mpeg\\r\\n\\r\\n'; cat body) > live
            printf 'HTTP/1.0 302 Found\\r\\nLocation: http://127.0.0.1:9/live\\r\\n\\r\\n' > away
            """)
        let port = try LoopbackServer { _ in }.port
        let server = try ChildProcess([
            "bash", "-c", "cd \(folder) && exec openssl s_server -HTTP -quiet -accept \(port) -key key -cert cert",
        ])
        defer { server.stop() }
        for _ in 0..<200 {  // until it listens
            usleep(20_000)
            if try ChildProcess(["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/\(port)"]).wait(seconds: 2) == .exit(0) {
                break
            }
        }
        let address = "https://127.0.0.1:\(port)"
        let refused = try Listener("\(address)/live").playToTheEnd()
        guard case .failed(.notTrusted) = refused else { return wrong("\(refused)") }
        try expectTheFile(try Listener("\(address)/live") { $0.certificateFile = "\(folder)/cert" })
        #expect(
            try Listener("\(address)/away") { $0.certificateFile = "\(folder)/cert" }.playToTheEnd()
                == .failed(.redirectRefused(address: "\(address)/away")))
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add(_ more: Int) { count.add(more, ordering: .relaxed) }
    }
}
