// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Small programs that use Earshot through its public interface. scripts/examples builds, runs and measures them. `call`,
// `offline-render` and `list-units` are complete in one file; the others share Stage, their command line.
let examples = [
    "pan-and-volume", "input-callback", "synthesizer", "two-callbacks", "two-players", "offline-render", "record-mp3",
    "around-the-head", "plug-in", "duplex-voice", "list-units",
]
func products(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: "Earshot\($0)", package: "Earshot") }
}
let engine = products(
    "AudioBase", "AudioDSP", "AudioPlugIns", "AudioFiles", "AudioContainers", "VoiceProcessing", "AudioDevices",
    "AudioEngine", "AudioQueues")
let call = products("AudioDevices", "AudioSession", "LiveCall", "MediaTransport", "Nearby", "Rooms")

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "Earshot", path: "..")],
    targets: [
        .target(name: "Stage", dependencies: engine),
        .executableTarget(name: "call", dependencies: call),
    ] + examples.map { .executableTarget(name: $0, dependencies: ["Stage"] + engine) },
    swiftLanguageModes: [.v6]
)
