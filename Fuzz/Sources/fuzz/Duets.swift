// SPDX-License-Identifier: Apache-2.0

@testable import DuetParsing

/// A message of a duet that was read must survive writing and reading, and its playback must decide as others do.
func fuzzDuet(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let message = DuetMessage(Array(input)) else { return 0 }
    let bytes = message.bytes
    // Escapes may make a message longer than a datagram.
    if bytes.count <= DuetMessage.maximumSize { precondition(DuetMessage(bytes) == message) }
    if let beat = message.song?.beat { precondition(beat.period >= 0.2 && beat.countInTime < 17) }
    guard let transport = message.transport else { return 0 }
    let position = transport.position(at: transport.groupTime)
    precondition(position >= 0 && position <= DuetTransport.latestPosition)
    var other = DuetTransport()
    precondition(!(transport.supersedes(other) && other.supersedes(transport)))
    other.revision = transport.revision &+ 1
    precondition(other.supersedes(transport) && !transport.supersedes(other) && !transport.supersedes(transport))
    // All members choose the same one of two attempts that began at once.
    var twin = transport
    twin.id = (transport.id ?? 0) ^ 1
    precondition(twin.supersedes(transport) != transport.supersedes(twin))
    return 0
}

/// Returns a message with each field.
func duetSeeds() -> [[UInt8]] {
    let hash = String(repeating: "0a", count: 32)
    return [
        "{\"duet\":1,\"clock\":{\"term\":1,\"from\":81234567890123,\"to\":-5,\"rate\":-1e-05},\"agrees\":1,\"has\":\"\(hash)\"}",
        "{\"duet\":1,\"song\":{\"name\":\"\\u00e9.ogg\",\"bytes\":4194304,\"sha256\":\"\(hash)\",\"seconds\":192.5}}",
        "{\"duet\":1,\"song\":{\"name\":\"Beat\",\"bytes\":0,\"sha256\":\"\(hash)\",\"seconds\":300,\"beat\":{\"bpm\":92.5,\"bar\":3}}}",
        "{\"duet\":1,\"transport\":{\"revision\":4,\"attempt\":1,\"state\":\"playing\",\"position\":0,\"time\":8123}}",
        "{\"duet\":1,\"transport\":{\"revision\":4,\"attempt\":1,\"id\":9007199254740991,\"state\":\"paused\",\"position\":5,\"time\":-8}}",
        "{\"duet\":1,\"stem\":{\"attempt\":1,\"bytes\":96,\"sha256\":\"\(hash)\"},\"transport\":null}",
    ].map { Array($0.utf8) }
}
