// SPDX-License-Identifier: Apache-2.0

import Glibc

/// libFuzzer's entry for programs with their own main function (FuzzerInterface.h of LLVM's compiler-rt).
@_silgen_name("LLVMFuzzerRunDriver")
private func libFuzzerRunDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Runs a target until libFuzzer ends the process.
func runFuzzer(_ target: Target, arguments: [String]) -> Never {
    var count = CInt(arguments.count)
    var pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
    for (i, argument) in arguments.enumerated() { (pointers + i).initialize(to: strdup(argument)) }
    (pointers + arguments.count).initialize(to: nil)
    let body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt =
        switch target {
        case .session: { fuzzSession(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .aac: { fuzzAAC(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .opus: { fuzzOpus(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .red: { fuzzRED(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .opusCustom: { fuzzOpusCustom(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .stun: { fuzzSTUN(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .description: { fuzzDescription(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .container: { fuzzContainer(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .file: { fuzzFile(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .stream: { fuzzStream(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .titles: { fuzzTitles(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .playlist: { fuzzPlaylist(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .dtls: { fuzzDTLS(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .tls: { fuzzTLS(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .srtp: { fuzzSRTP(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .tags: { fuzzTags(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .rules: { fuzzRules(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .announcement: { fuzzAnnouncement(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .netlink: { fuzzNetlink(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .rooms: { fuzzRooms(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .events: { fuzzEvents(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .target: { fuzzTarget(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .transfer: { fuzzTransfer(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .commands: { fuzzCommands(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .duet: { fuzzDuet(UnsafeRawBufferPointer(start: $0, count: $1)) }
        case .toml: { fuzzTOML(UnsafeRawBufferPointer(start: $0, count: $1)) }
        }
    exit(libFuzzerRunDriver(&count, &pointers, body))
}
