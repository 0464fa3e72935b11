// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Products of Earshot, without their prefix. Those with an underscore are only for the benchmarks.
func earshot(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0.hasPrefix("_") ? $0 : "Earshot\($0)", package: "Earshot") }
}

// Run by scripts/bench. This is a separate package, so that Earshot does not depend on the benchmarks' libraries. It imports
// modules as tests do (@testable), since it measures internal functions.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "Earshot", path: "..")],
    targets: [
        .systemLibrary(name: "CJACKRing", pkgConfig: "jack"),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CSRTPAlone"),
        // Counts allocations in the program that links it.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "earshot-bench",
            dependencies: ["BenchScenes", "CJACKRing", "PairedTimes"]
                + earshot("AudioBase", "AudioCodecs", "AudioDSP", "Playout", "_EarshotSimulation")),
        // Scenes to measure, shared by the programs that time them and the one that counts their work.
        .target(
            name: "BenchScenes",
            dependencies: earshot("AudioBase", "AudioCodecs", "AudioDSP", "AudioEngine", "MediaTransport")),
        .target(name: "PairedTimes", dependencies: earshot("AudioBase")),
        // Kernels in plain C, for the comparison of speed.
        .target(name: "CKernels", cSettings: [.unsafeFlags(["-O3"])]),
        .executableTarget(name: "device-bench", dependencies: earshot("AudioBase", "AudioDevices", "_TestSupport")),
        // Figures of units, and their speed relative to the same kernel in C.
        .executableTarget(
            name: "unit-bench",
            dependencies: ["CKernels", "PairedTimes"] + earshot("AudioBase", "AudioDSP", "_UnitMeasures")),
        // Figures with limits, the cost of programs, and the parsing of command lines, shared by the programs below.
        .target(name: "BenchReports", dependencies: ["PairedTimes"] + earshot("AudioBase", "_UnitMeasures")),
        // Figures of the engine: the cost of its nodes relative to nothing, C and sox, and the effect of edits.
        .executableTarget(
            name: "engine-bench",
            dependencies: ["BenchReports", "BenchScenes", "CKernels", "PairedTimes"]
                + earshot("AudioBase", "AudioDSP", "AudioDevices", "AudioEngine", "AudioFiles")
                + earshot("_EngineMeasures", "_TestSupport", "_UnitMeasures")),
        // Figures of files: conversions, seeks and recording, compared with ffmpeg, sox, flac and lame.
        .executableTarget(
            name: "file-bench",
            dependencies: ["BenchReports", "PairedTimes"]
                + earshot("AudioBase", "AudioContainers", "AudioDevices", "AudioEngine", "AudioFiles", "Call")
                + earshot("LiveCall", "MediaTransport", "_EarshotSimulation", "_TestSupport", "_UnitMeasures")),
        // The cost of protecting and carrying media, compared with the ciphers, signatures and sockets alone, and the effect of a
        // flood.
        .executableTarget(
            name: "transport-bench",
            dependencies: ["BenchReports", "BenchScenes", "CAllocations", "CCrypto", "CSRTPAlone", "PairedTimes"]
                + earshot("AudioBase", "AudioCodecs", "AudioDevices", "Call", "MediaTransport", "_TestSupport")),
        // The work that scripts/counts counts under valgrind.
        .target(name: "CCounts"),
        .executableTarget(
            name: "counts",
            dependencies: ["BenchScenes", "CCounts"]
                + earshot("AudioBase", "AudioCodecs", "AudioContainers", "AudioDSP", "AudioDevices", "AudioEngine")
                + earshot("AudioFiles", "Call", "MediaTransport", "Playout", "_EarshotSimulation")),
    ],
    swiftLanguageModes: [.v6]
)
