// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Small programs that use Earshot through its public interface. scripts/examples builds, runs and measures them.
let examples = [
    "pan-and-volume", "input-callback", "synthesizer", "two-callbacks", "two-players", "offline-render", "record-mp3",
    "around-the-head", "plug-in", "duplex-voice", "list-units",
]
let earshot = [
    "AudioBase", "AudioDSP", "AudioPlugIns", "AudioFiles", "AudioContainers", "VoiceProcessing", "AudioDevices",
    "AudioEngine",
    "AudioQueues",
].map { Target.Dependency.product(name: "Earshot\($0)", package: "Earshot") }

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "Earshot", path: "..")],
    targets: [.target(name: "Stage", dependencies: earshot)]
        + examples.map { .executableTarget(name: $0, dependencies: ["Stage"] + earshot) },
    swiftLanguageModes: [.v6]
)
